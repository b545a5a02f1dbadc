import Foundation
import TestSupport
import Testing
import Tokenization

@Suite("Chat templates against PyPI jinja2")
struct ChatTemplateOracleTests {
  private struct Case: Encodable {
    var template: String
    /// The variables as JSON text, in which the order of keys is kept.
    var variables: String
  }
  private struct Request: Encodable { var cases: [Case] }
  private struct Result: Decodable {
    var text: String?
    var error: String?
  }
  private struct Answer: Decodable { var results: [Result] }

  private func json(_ variables: [(String, TemplateValue)]) throws -> String {
    try ChatTemplate(source: "{{ value | tojson }}").render(
      variables: ["value": .mapping(variables)])
  }

  private func variables(
    _ messages: [ChatMessage], prompt: Bool, tools: [TemplateValue]
  ) -> [(String, TemplateValue)] {
    let values = messages.map { message in
      let base: [(String, TemplateValue)] = [
        ("role", .string(message.role)), ("content", .string(message.content)),
      ]
      return TemplateValue.mapping(TemplateMapping(given: base).merging(message.fields))
    }
    return [
      ("messages", .list(values)), ("add_generation_prompt", .boolean(prompt)),
      ("bos_token", .string("<s>")), ("eos_token", .string("</s>")),
      ("tools", tools.isEmpty ? .none : .list(tools)), ("documents", .none),
    ]
  }

  /// Renders every template with every conversation, here and there.
  private func compare(_ templates: [(String, String)]) throws {
    var cases: [Case] = []
    var ours: [Swift.Result<String, ChatTemplateError>] = []
    var names: [String] = []
    for (name, source) in templates {
      let template = try ChatTemplate(source: source)
      for (index, messages) in ChatTemplateSamples.conversations.enumerated() {
        for (prompt, tools) in [(true, []), (false, []), (true, ChatTemplateSamples.tools)] {
          let variables = variables(messages, prompt: prompt, tools: tools)
          cases.append(Case(template: source, variables: try json(variables)))
          names.append("\(name), conversation \(index), prompt \(prompt), tools \(tools.count)")
          ours.append(
            Swift.Result { () throws(ChatTemplateError) in
              try template.render(
                messages: messages, addsGenerationPrompt: prompt, beginText: "<s>",
                endText: "</s>", tools: tools)
            })
        }
      }
    }
    try expectSame(cases, ours, names)
  }

  private func expectSame(
    _ cases: [Case], _ ours: [Swift.Result<String, ChatTemplateError>], _ names: [String]
  ) throws {
    let theirs = try Oracle.ask("chat_template.py", Request(cases: cases), as: Answer.self).results
    try #require(theirs.count == cases.count)
    for ((ours, theirs), name) in zip(zip(ours, theirs), names) {
      switch ours {
      case .success(let text):
        #expect(theirs.text.map { Array($0.utf8) } == Array(text.utf8), "\(name): \(text)")
      case .failure(let error):
        #expect(theirs.error != nil, "\(name): \(error), but \(theirs.text ?? "")")
      }
    }
  }

  @Test("templates of five styles", .needs(.python))
  func styles() throws {
    try compare(try ChatTemplateSamples.names.map { ($0, try ChatTemplateSamples.source($0)) })
  }

  @Test("the model's own template", .needs(.python, .model))
  func modelTemplate() throws {
    let vocabulary = try VocabularyFile.model.get()
    try compare([("model", try #require(vocabulary.chatTemplate))])
  }

  /// Small templates over `n x t z s l words d`: those that render, and those that fail.
  private struct Expressions: Decodable {
    var rendering: [String]
    var failing: [String]
  }

  @Test("expressions and statements", .needs(.python))
  func expressions() throws {
    let values: [(String, TemplateValue)] = [
      ("n", .integer(7)), ("x", .real(2.5)), ("t", .boolean(true)), ("z", .none),
      ("s", .string("Hé llo\u{1F600} wörld")),
      ("l", .list([.integer(3), .integer(1), .integer(2)])),
      ("words", .list([.string("b"), .string("A"), .string("c")])),
      ("d", .mapping([("k", .string("v")), ("a", .list([.integer(1), .none]))])),
    ]
    let file = try JSONDecoder().decode(
      Expressions.self,
      from: Data(contentsOf: Repository.fixture("chat-templates/expressions.json")))
    let sources = file.rendering + file.failing
    let text = try json(values)
    let cases = sources.map { Case(template: $0, variables: text) }
    let variables = Dictionary(uniqueKeysWithValues: values)
    let ours = sources.map { source in
      Swift.Result { () throws(ChatTemplateError) in
        try ChatTemplate(source: source).render(variables: variables)
      }
    }
    try expectSame(cases, ours, sources)
    let failing = zip(ours, sources).compactMap { result, source in
      if case .failure = result { source } else { nil }
    }
    #expect(failing == file.failing)
  }
}
