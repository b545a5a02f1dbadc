import Foundation
import TestSupport
import Testing

/// Chat templates that come with a model, as the commands meet them.
@Suite struct ChatTemplateTests {
  /// The commands that put a prompt into the template of a model.
  private static let lines = ["generate -n 2 --chat --prompt-file @prompt --model", "run -r 1"]

  private func fails(
    _ template: String, _ line: String, _ words: String
  ) throws {
    let folder = try TemporaryFolder()
    let model = folder.file("model.gguf")
    try TinyModel(chatTemplate: template).bytes.write(to: URL(filePath: model))
    try Data("the path".utf8).write(to: folder.url("prompt"))
    var arguments = line.split(separator: " ").map(String.init)
    arguments += line.hasPrefix("run") ? [model, "--prompt-file", "@prompt"] : [model]
    let result = try Program.run(
      arguments.map { $0 == "@prompt" ? folder.file("prompt") : $0 })
    #expect(result.status == 3, "\(template): \(result)")
    #expect(result.errorLines.count == 1, "\(template): \(result)")
    let message = String(result.errorLines.first ?? "")
    #expect(message.contains("model.gguf: chat template: \(words)"), "\(result)")
    // The place is named once.
    #expect(message.components(separatedBy: "chat template").count == 2, "\(result)")
    #expect(message.utf8.count < 1200, "\(result)")
  }

  @Test(
    "a template that renders nothing is an error that names the model",
    arguments: lines, ["{{ [][0] }}", "{% if 0 %}x{% endif %}", "{{ messages[9] }}", ""])
  func empty(line: String, template: String) throws {
    try fails(template, line, "it renders no text")
  }

  @Test("what a template raises is one short line", arguments: lines)
  func raised(line: String) throws {
    try fails("{{ raise_exception('a\\n\\x1b[1m' * 1000000) }}", line, "line 1: a\\n\\u{1B}[1m")
  }

  @Test("a template without end ends", arguments: lines)
  func endless(line: String) throws {
    try fails("{{ ('ab' * 9223372036854775807) }}", line, "line 1: ")
    try fails("{% for i in range(999999999) %}x{% endfor %}", line, "line 1: more than ")
  }
}
