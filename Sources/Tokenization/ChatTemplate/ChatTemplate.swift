/// One message of a conversation, as a template sees it.
package struct ChatMessage: Sendable {
  /// `system`, `user`, `assistant`, `tool`, …
  package var role: String
  package var content: String
  /// What else the message has, such as `tool_calls` or `name`.
  package var fields: TemplateMapping

  package init(role: String, content: String, fields: TemplateMapping = TemplateMapping()) {
    self.role = role
    self.content = content
    self.fields = fields
  }

  /// The message as a mapping: `role`, `content`, then the other fields.
  var value: TemplateValue {
    let base: [(String, TemplateValue)] = [("role", .string(role)), ("content", .string(content))]
    return .mapping(base + fields.entries.map { ($0.key, $0.value) })
  }
}

/// A model's chat template: the part of Jinja that such templates use, interpreted.
///
/// Statements: `for` with `if` and `else`, `if`, `set` (names, namespace attributes, blocks),
/// `macro`, `break`, `continue`, `generation`, `raw`. Values, operators, slices, filters, tests and methods
/// mean what they mean in Python. Rendering is deterministic: no template sees a clock.
///
/// A template is someone else's program: steps, output and nesting are bounded, and whatever is
/// wrong with it is a `ChatTemplateError` with a line.
package struct ChatTemplate: Sendable {
  /// How much a rendering may do.
  package struct Limits: Sendable {
    /// A step is an expression or statement evaluated, an element made, or 32 bytes of text made.
    package var maximumSteps: Int
    package var maximumOutputBytes: Int

    /// A conversation of a thousand messages takes about 50,000 steps.
    package init(maximumSteps: Int = 2_000_000, maximumOutputBytes: Int = 16 << 20) {
      self.maximumSteps = maximumSteps
      self.maximumOutputBytes = maximumOutputBytes
    }
  }

  /// A longer source is refused.
  package static let maximumSourceBytes = 1 << 20

  private let statements: [TemplateStatement]

  /// Parses a template.
  package init(source: String) throws(ChatTemplateError) {
    guard source.utf8.count <= Self.maximumSourceBytes else {
      throw ChatTemplateError(
        .limit, line: 1, "the template has more than \(Self.maximumSourceBytes) bytes")
    }
    statements = try TemplateParser.statements(of: source)
  }

  /// Renders a conversation.
  ///
  /// `beginText` and `endText` are the texts of the model's begin and end tokens (`bos_token`,
  /// `eos_token`). Without `tools`, `tools` is none, as templates test for. `variables` are further
  /// names that the template may look at, and override the ones above.
  package func render(
    messages: [ChatMessage], addsGenerationPrompt: Bool, beginText: String = "",
    endText: String = "", tools: [TemplateValue] = [],
    variables: [String: TemplateValue] = [:], limits: Limits = Limits()
  ) throws(ChatTemplateError) -> String {
    let standard: [String: TemplateValue] = [
      "messages": .list(messages.map(\.value)),
      "add_generation_prompt": .boolean(addsGenerationPrompt),
      "bos_token": .string(beginText),
      "eos_token": .string(endText),
      "tools": tools.isEmpty ? .none : .list(tools),
      "documents": .none,
    ]
    return try render(variables: standard.merging(variables) { $1 }, limits: limits)
  }

  /// Renders with no names but the ones given.
  package func render(
    variables: [String: TemplateValue], limits: Limits = Limits()
  ) throws(ChatTemplateError) -> String {
    var evaluator = TemplateEvaluator(variables: variables, limits: limits)
    _ = try evaluator.run(statements)
    return evaluator.output.text
  }
}
