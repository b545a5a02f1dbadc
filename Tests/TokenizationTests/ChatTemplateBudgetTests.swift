import Testing
import Tokenization

/// What templates pay for: the bounds are on steps and bytes counted, which no machine changes.
@Suite("Budget of chat templates")
struct ChatTemplateBudgetTests {
  private struct Outcome {
    var text: String?
    var error: ChatTemplateError?
    var usage = ChatTemplate.Usage()
  }

  private static func render(
    _ source: String, _ variables: [String: TemplateValue] = [:],
    limits: ChatTemplate.Limits = ChatTemplate.Limits()
  ) -> Outcome {
    var outcome = Outcome()
    do throws(ChatTemplateError) {
      let template = try ChatTemplate(source: source)
      outcome.text = try template.render(
        variables: variables, limits: limits, usage: &outcome.usage)
    } catch {
      outcome.error = error
    }
    return outcome
  }

  // MARK: Work that once cost nothing

  /// Forty lists, each twice in the next: 2^40 texts for whoever walks them without paying.
  private static let shared =
    "{% set n = namespace(x=('ab',)) %}{% for i in range(40) %}{% set n.x = (n.x, n.x) %}"
    + "{% endfor %}"
  private static let long = "{% set s = 'Ab \u{e9}' * 100000 %}"

  /// A thousand times an expression.
  private static func often(_ expression: String) -> String {
    "{% for i in range(1000) %}{% if \(expression) %}{% endif %}{% endfor %}"
  }

  private static func names(_ count: Int, _ suffix: String) -> String {
    (0..<count).map { "a\($0)\(suffix)" }.joined(separator: ",")
  }

  @Test(
    "what multiplies work ends at a limit",
    arguments: [
      shared + "{{ n.x == n.x }}", shared + "{{ n.x < n.x }}", shared + "{{ n.x | string }}",
      shared + "{{ n.x | tojson }}", shared + "{{ n.x ~ '' }}", shared + "{{ n.x | upper }}",
      shared + "{{ n.x in [n.x] }}", shared + "{{ [n.x, n.x] | sort }}",
      shared + "{{ [n.x, n.x] | unique }}", shared + "{{ [n.x] | join }}",
      "{% macro m(" + names(60_000, "") + ") %}{% endmacro %}" + often("m()"),
      "{% set d = dict(" + names(60_000, "=1") + ") %}" + often("d.a1"),
      "{% macro m(" + names(255, "") + ") %}{% endmacro %}" + often("m() ~ m() ~ m()"),
      long + often("s is upper"), long + often("s is lower"), long + often("s | int"),
      long + often("s | float"), long + often("''.replace(s, '')"), long + often("''.strip(s)"),
      long + often("''.split(s)"), long + often("s in ''"), long + often("''.count(s)"),
      long + often("{}[s]"), long + often("{s: 1}"), long + often("s | title"),
      long + often("s[::-1]"), long + often("s | reverse"), long + often("s == s"),
      long + often("s < s"), long + often("s.startswith(s)"), long + often("s | length"),
      long + "{{ range(20000) | list | tojson(separators=(s, s)) }}",
      long + "{{ range(20000) | join(s) }}", long + "{{ ('\\n' * 20000) | indent(s, blank=true) }}",
      "{{ 'ab' * 9223372036854775807 }}", "{{ [1] * 9223372036854775807 }}",
      "{% for i in [[]] * 9223372036854775807 %}x{% endfor %}",
      "{{ range(-9223372036854775807, 9223372036854775807) }}",
      "{{ ([[1, 2, 3]] * 100000) | sum(start=[]) }}",
      "{% set n = namespace(x='') %}{% for i in range(100000) %}{% set n.x = n.x ~ 'abcdefgh' %}"
        + "{% endfor %}",
      "{% for i in range(100000) %}{% set n = namespace(a=1, b=2) %}{% endfor %}",
      "{% for i in range(1000000) %}{% macro m() %}{% endmacro %}{% endfor %}",
      "{% macro m(n) %}{{ m(n ~ n) }}{% endmacro %}{{ m('a') }}",
    ])
  func multipliedWork(source: String) {
    let outcome = Self.render(source)
    #expect(outcome.error?.kind == .limit, "\(source.prefix(200)): \(outcome)")
    #expect(outcome.usage.steps <= ChatTemplate.Limits().maximumSteps)
    #expect(outcome.usage.bytes <= ChatTemplate.Limits().maximumBytes)
  }

  @Test("repeating nothing is nothing", arguments: ["''", "[]", "()"])
  func repeatedNothing(empty: String) {
    let outcome = Self.render("{{ (\(empty) * 9223372036854775807) | length }}")
    #expect(outcome.text == "0", "\(outcome)")
    #expect(outcome.usage.steps < 20)
  }

  @Test("tuples of prefixes are flat, as in Python")
  func nestedPrefixes() {
    for method in ["startswith", "endswith", "strip", "replace", "split", "removeprefix"] {
      let outcome = Self.render(Self.shared + "{{ 'b'.\(method)(n.x) }}")
      #expect(outcome.error?.kind == .type || outcome.error?.kind == .unsupported, "\(outcome)")
      #expect(outcome.usage.steps < 2_000)
    }
    #expect(Self.render("{{ 'abc'.startswith(('x', 'ab')) }}").text == "True")
    #expect(Self.render("{{ 'abc'.endswith(('x', 'ab')) }}").text == "False")
  }

  // MARK: Everything that a template can call

  private static let text = String(repeating: "Ab\u{e9} ", count: 40_000)
  private static let operands: [String: TemplateValue] = [
    "s": .string(text),
    "l": .list((0..<20_000).map { .integer($0) }),
    "d": .mapping((0..<20_000).map { ("k\($0)", .integer($0)) }),
    "e": .string(""),
  ]

  /// Steps beyond those of the same expression over empty operands.
  private func steps(of expression: String) -> Int {
    let empty: [String: TemplateValue] = [
      "s": .string(""), "l": .list([]), "d": .mapping([]), "e": .string(""),
    ]
    let source = "{{ (\(expression)) is defined }}"
    return Self.render(source, Self.operands).usage.steps - Self.render(source, empty).usage.steps
  }

  /// The fewest steps for a look at all of the text, or at all elements.
  private static let least = (text: text.utf8.count / 64, elements: 20_000 / 8)

  /// Filters that do not look at what they are given, whatever it is.
  private static let passive: Set<TemplateFilter> = [.d, .default, .safe]

  @Test("every filter pays for its operand", arguments: TemplateFilter.allCases)
  func filters(_ filter: TemplateFilter) {
    let arguments =
      switch filter {
      case .map: "('string')"
      case .replace: "('Ab', 'cd')"
      case .selectattr, .rejectattr: "(0)"
      default: ""
      }
    let isFree = Self.passive.contains(filter)
    // Numbers are not made of texts, nor are pairs; sums of texts and numbers fail at the first.
    // A text is its own string.
    let isFreeOfTexts: Set<TemplateFilter> = [.abs, .dictsort, .items, .round, .string]
    if !isFree, !isFreeOfTexts.contains(filter) {
      #expect(steps(of: "s | \(filter.rawValue)\(arguments)") >= Self.least.text)
    }
    // Lists are no numbers, and know their length.
    let isFreeOfLists: Set<TemplateFilter> = [
      .abs, .count, .dictsort, .float, .int, .items, .length, .round,
    ]
    if !isFree, !isFreeOfLists.contains(filter) {
      #expect(steps(of: "l | \(filter.rawValue)\(arguments)") >= Self.least.elements)
    }
    let isFreeOfMappings = isFreeOfLists.subtracting([.dictsort, .items])
    if !isFree, !isFreeOfMappings.contains(filter) {
      #expect(steps(of: "d | \(filter.rawValue)\(arguments)") >= Self.least.elements)
    }
  }

  @Test("every method pays for its text", arguments: TemplateMethod.allCases)
  func methodOperands(_ method: TemplateMethod) {
    let arguments: String
    switch method {
    // Those of mappings and loops.
    case .cycle, .get, .items, .keys, .values: return
    case .count, .find, .split: arguments = "'q'"
    case .replace: arguments = "'q', 'r'"
    // As much is looked at as the argument is long.
    case .startswith, .endswith, .removeprefix, .removesuffix: arguments = "s"
    case .join: arguments = "l"
    default: arguments = ""
    }
    #expect(steps(of: "s.\(method.rawValue)(\(arguments))") >= Self.least.text)
  }

  @Test("every method pays for its argument", arguments: TemplateMethod.allCases)
  func methodArguments(_ method: TemplateMethod) {
    switch method {
    case .count, .find, .lstrip, .rstrip, .split, .strip:
      #expect(steps(of: "e.\(method.rawValue)(s)") >= Self.least.text)
    case .replace:
      #expect(steps(of: "e.replace(s, e)") >= Self.least.text)
      #expect(steps(of: "'ab'.replace('a', s)") >= Self.least.text)
    case .join: #expect(steps(of: "e.join(l)") >= Self.least.elements)
    case .get: #expect(steps(of: "d.get(s)") >= Self.least.text)
    case .items, .keys, .values:
      #expect(steps(of: "d.\(method.rawValue)()") >= Self.least.elements)
    // A longer text is no prefix, and its length says so; the others take no texts.
    case .startswith, .endswith, .removeprefix, .removesuffix: break
    case .capitalize, .cycle, .lower, .splitlines, .upper: break
    }
  }

  @Test("every test pays for what it looks at", arguments: TemplateTest.allCases)
  func tests(_ test: TemplateTest) {
    switch test {
    case .lower, .upper: #expect(steps(of: "s is \(test.rawValue)") >= Self.least.text)
    case .eq, .equalto, .sameas, .ne, .le, .lessthan, .lt, .ge, .greaterthan, .gt:
      // A text of its own with the same content.
      #expect(steps(of: "s is \(test.rawValue)(s ~ '')") >= 4 * Self.least.text)
      #expect(steps(of: "l is \(test.rawValue)(l)") >= Self.least.elements)
    case .in:
      #expect(steps(of: "s is in(s)") >= Self.least.text)
      #expect(steps(of: "1.5 is in(l)") >= Self.least.elements)
      #expect(steps(of: "s is in(d)") >= Self.least.text)
    // Of a type or a number.
    case .boolean, .defined, .divisibleby, .even, .false, .float, .integer, .iterable, .mapping,
      .none, .number, .odd, .sequence, .string, .true, .undefined:
      break
    }
  }

  @Test(
    "operators and statements pay for their operands",
    arguments: [
      "s ~ ''", "s + ''", "s * 2", "2 * s", "s[0]", "s[1:]", "s[::-2]", "s == (s ~ '')", "s < s",
      "e in s", "s in e", "s in d", "d[s]", "{s: 1}", "[s] == [s ~ '']", "s ~ 1",
      "namespace({s: 1})", "range(20000)", "l + [1]", "l * 2", "l[1:]", "l == l", "'x' in l",
      "dict(d)", "d == d", "namespace(d)",
    ])
  func operators(expression: String) {
    #expect(steps(of: expression) >= Self.least.elements || expression.hasPrefix("range"))
    #expect(Self.render("{% set x = \(expression) %}", Self.operands).usage.steps >= 2_500)
  }

  // MARK: What templates may use

  @Test("a thousand messages take a small part of what is allowed")
  func realTemplates() throws {
    for name in ChatTemplateSamples.names {
      let template = try ChatTemplate(source: ChatTemplateSamples.source(name))
      var messages: [ChatMessage] = []
      for _ in 0..<500 {
        messages += [
          ChatMessage(role: "user", content: String(repeating: "What now? ", count: 40)),
          ChatMessage(role: "assistant", content: String(repeating: "This and that. ", count: 40)),
        ]
      }
      let limits = ChatTemplate.Limits(
        maximumSteps: ChatTemplate.Limits().maximumSteps / 4,
        maximumBytes: ChatTemplate.Limits().maximumBytes / 8,
        maximumOutputBytes: ChatTemplate.Limits().maximumOutputBytes / 8)
      let text = try template.render(
        messages: messages, addsGenerationPrompt: true, tools: ChatTemplateSamples.tools,
        limits: limits)
      #expect(text.utf8.count > 500_000, "\(name)")
    }
  }

  @Test("memory is counted before it is taken")
  func memory() {
    let limits = ChatTemplate.Limits(maximumSteps: .max, maximumBytes: 1 << 20)
    for source in [
      "{{ 'a' * 2000000 }}", "{{ [0] * 100000 }}", "{{ range(1000000000) | length }}",
      "{% set s = 'a ' * 100000 %}{% for i in range(9) %}{% set l = s.split() %}{% endfor %}",
      "{% set l = ['a'] * 10000 %}{% for i in range(100) %}{% set m = l | sort %}{% endfor %}",
    ] {
      let outcome = Self.render(source, limits: limits)
      #expect(outcome.error?.kind == .limit, "\(source): \(outcome)")
      #expect(outcome.error?.reason.contains("bytes of memory") == true, "\(outcome)")
      #expect(outcome.usage.bytes <= 1 << 20)
    }
  }

  @Test(
    "sources that parsing would have to pay for are refused",
    arguments: [
      "{{ [" + String(repeating: "1,", count: 60_000) + "] }}",
      "{{ f(" + String(repeating: "1,", count: 300) + ") }}",
      "{% macro m(" + names(300, "") + ") %}{% endmacro %}",
      "{{ " + String(repeating: "a", count: 200) + " }}",
      String(repeating: "x", count: ChatTemplate.maximumSourceBytes + 1),
    ])
  func parsing(source: String) {
    #expect(Self.render(source).error?.kind == .limit)
  }

  // MARK: Messages

  @Test("what a template says in an error is one short line")
  func messages() throws {
    let raised = Self.render("{{ raise_exception('a\\nb\\x1b[31m\\u202e' ~ 'x' * 1000000) }}")
    let error = try #require(raised.error)
    #expect(error.kind == .raised)
    #expect(error.description.hasPrefix("line 1: a\\nb\\u{1B}[31m\\u{202E}xxx"), "\(error)")
    #expect(error.reason.unicodeScalars.count <= ChatTemplateError.maximumReasonScalars + 1)
    #expect(error.reason.hasSuffix("…"))
    let name = String(repeating: "z", count: 400)
    for source in ["{{ {}['\(name)'].a }}", "{{ 1.5e\(name) }}", "{{ 1 | \(name) }}"] {
      let error = try #require(Self.render(source).error)
      #expect(error.description.utf8.count < 300, "\(error)")
    }
  }
}
