import Testing
import Tokenization

@Suite("Chat templates")
struct ChatTemplateTests {
  @Test("ChatML by hand")
  func chatML() throws {
    let template = try ChatTemplate(source: ChatTemplateSamples.source("chatML"))
    let text = try template.render(
      messages: [
        ChatMessage(role: "system", content: "Be brief."), ChatMessage(role: "user", content: "Hi"),
      ],
      addsGenerationPrompt: true)
    #expect(
      text == """
        <|im_start|>system
        Be brief.<|im_end|>
        <|im_start|>user
        Hi<|im_end|>
        <|im_start|>assistant

        """)
  }

  @Test("trimming of tags by hand")
  func brackets() throws {
    let template = try ChatTemplate(source: ChatTemplateSamples.source("brackets"))
    let text = try template.render(
      messages: [
        ChatMessage(role: "user", content: "Hi"), ChatMessage(role: "assistant", content: " Ho "),
      ],
      addsGenerationPrompt: false, beginText: "<s>", endText: "</s>")
    #expect(text == "<s>\n[INST] Hi[/INST]\n Ho</s>\nuser,assistant 1")
  }

  @Test(
    "errors name their line",
    arguments: [
      ("a\n{{ b.c }}", ChatTemplateError.Kind.undefined, 2),
      ("{% if true %}\n\n{{ 'x' + 1 }}{% endif %}", .type, 3),
      ("\n\n{% if x %}", .syntax, 3),
      ("{{ raise_exception('roles') }}", .raised, 1),
      ("\n{% include 'x' %}", .unsupported, 2),
      ("{{\n\n'open }}", .syntax, 3),
      ("{#\n\n#}{{ 1 | nofilter }}", .unsupported, 3),
      ("{{ 9223372036854775807 + 1 }}", .type, 1),
      ("{{ 9223372036854775808 }}", .syntax, 1),
      ("{{ -9223372036854775807 - 2 }}", .type, 1),
    ])
  func errors(source: String, kind: ChatTemplateError.Kind, line: Int) throws {
    let error = #expect(throws: ChatTemplateError.self) {
      try ChatTemplate(source: source).render(messages: [], addsGenerationPrompt: false)
    }
    #expect(error?.kind == kind, "\(String(describing: error))")
    #expect(error?.line == line, "\(String(describing: error))")
  }

  /// A template that replaces `ns.a` by an expression over it, again and again.
  private static func repeated(_ count: Int, _ first: String, _ next: String) -> String {
    "{% set ns = namespace(a=\(first)) %}{% for i in range(\(count)) %}"
      + "{% set ns.a = \(next) %}{% endfor %}"
  }

  /// A text again and again between two others.
  private static func run(_ before: String, _ text: String, _ after: String) -> String {
    before + String(repeating: text, count: 5_000) + after
  }

  @Test(
    "hostile templates end with a limit",
    arguments: [
      "{% for i in range(1000000000000) %}{% endfor %}",
      "{% for i in range(3000) %}{% for j in range(3000) %}x{% endfor %}{% endfor %}",
      "{{ 'x' * 1000000000000 }}",
      Self.repeated(100, "'x'", "ns.a ~ ns.a"),
      Self.repeated(100, "[]", "[ns.a, ns.a]"),
      Self.repeated(60, "[1]", "[ns.a, ns.a]") + "{{ ns.a }}",
      Self.repeated(60, "[1]", "[ns.a, ns.a]") + "{{ ns.a | tojson }}",
      Self.repeated(60, "[1]", "[ns.a, ns.a]") + "{% set b = ns.a %}"
        + Self.repeated(60, "[1]", "[ns.a, ns.a]") + "{{ ns.a == b }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro a() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}",
      Self.run("", "{% if true %}", ""),
      Self.run(Self.run("{{ ", "(", "1"), ")", " }}"),
      Self.run(Self.run("{{ ", "[", ""), "]", " }}"),
      Self.run("{{ 1", " + 1", " }}"),
      Self.run("{{ x", ".a", " }}"),
      Self.run("{{ x", "|trim", " }}"),
      Self.run("{{ ", "not ", "x }}"),
      Self.run("{{ ", "1 if 1 else ", "x }}"),
      Self.run("{{ a", " and a", " }}"),
      "{% set a = 'a' * 1000000 %}{% for i in range(100000) %}{{ a in a }}{% endfor %}",
      "{{ ('a' * 1000000).replace('a', 'b' * 1000000) }}",
      String(repeating: "x", count: 1 << 21),
    ])
  func bounds(source: String) throws {
    let error = #expect(throws: ChatTemplateError.self) {
      try ChatTemplate(source: source).render(messages: [], addsGenerationPrompt: false)
    }
    #expect(error?.kind == .limit, "\(String(describing: error))")
  }

  @Test("an empty text repeated for ever is empty at once")
  func emptyRepetition() throws {
    let template = try ChatTemplate(source: "{{ ''*9223372036854775807 }}|{{ [1] * 2 }}")
    #expect(try template.render(variables: [:]) == "|[1, 1]")
  }

  @Test("limits are the caller's")
  func callersLimits() throws {
    let template = try ChatTemplate(source: "{% for i in range(10) %}0123456789{% endfor %}")
    #expect(try template.render(variables: [:], limits: ChatTemplate.Limits()).utf8.count == 100)
    #expect(throws: ChatTemplateError.self) {
      try template.render(variables: [:], limits: ChatTemplate.Limits(maximumOutputBytes: 99))
    }
    #expect(throws: ChatTemplateError.self) {
      try template.render(variables: [:], limits: ChatTemplate.Limits(maximumSteps: 10))
    }
  }
}
