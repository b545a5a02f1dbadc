import Foundation
import TestSupport
import Tokenization

/// Templates in the styles of known chat formats, and conversations to render with them.
enum ChatTemplateSamples {
  /// The names of the templates in Tests/Fixtures/chat-templates:
  ///
  /// - `chatML`: ChatML with tools; the loop looks behind and ahead.
  /// - `headers`: headers, namespaces, a date that may be missing, slices.
  /// - `turns`: turns that must alternate, with roles renamed.
  /// - `brackets`: brackets, tests by filter, no whitespace control: what trimming of tags leaves.
  /// - `reasoning`: reasoning cut out of answers, a macro, `break`.
  static let names = ["chatML", "headers", "turns", "brackets", "reasoning"]

  static func source(_ name: String) throws -> String {
    String(
      decoding: try Data(contentsOf: Repository.fixture("chat-templates/\(name).jinja")),
      as: UTF8.self)
  }

  // MARK: Conversations

  private static func message(
    _ role: String, _ content: String, _ more: [(String, TemplateValue)] = []
  ) -> ChatMessage {
    ChatMessage(role: role, content: content, fields: TemplateMapping(given: more))
  }

  private static let call: [(String, TemplateValue)] = [
    (
      "tool_calls",
      .list([
        .mapping([
          (
            "function",
            .mapping([
              ("name", .string("weather")),
              (
                "arguments",
                .mapping([
                  ("place", .string("Nîmes \"sud\"\n\u{1F600}")), ("days", .integer(3)),
                  ("scale", .real(0.5)), ("exact", .boolean(true)), ("more", .none),
                  ("list", .list([.integer(1), .list([]), .mapping([])])),
                ])
              ),
            ])
          )
        ])
      ])
    )
  ]

  static let tools: [TemplateValue] = [
    .mapping([
      ("type", .string("function")),
      (
        "function",
        .mapping([
          ("name", .string("weather")), ("description", .string("The weather <now> & 'later'")),
        ])
      ),
    ])
  ]

  static let conversations: [[ChatMessage]] = [
    [message("user", "Hi")],
    [message("system", "  Be brief. "), message("user", "Hi\r\nthere \n")],
    [message("user", "1"), message("assistant", " 2 "), message("user", "3 e\u{301}")],
    [
      message("system", "S"), message("user", "<r>x</r>"),
      message("assistant", "<think>\nhm\n</think>\n\nanswer"), message("user", "again"),
      message("assistant", "<think>\nlonger\n</think>done"),
    ],
    [
      message("user", "Weather?"), message("assistant", "", call), message("tool", "sunny"),
      message("tool", "rain"), message("assistant", "Mixed."), message("user", "Thanks"),
    ],
    [message("assistant", "first"), message("assistant", "second")],
    [],
  ]
}
