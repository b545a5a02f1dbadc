import Foundation
import TestSupport
import Testing

/// What is said on a terminal, and elsewhere.
@Suite struct TerminalTests {
  /// Runs a line with a terminal for all its streams, which have one text.
  private func onTerminal(_ line: String, input: String = "") throws -> String {
    let result = try Program.run(
      "/usr/bin/script", ["-qec", line, "/dev/null"], input: input,
      environment: ["AFM": Program.path])
    #expect(result.status == 0, "\(result)")
    return result.outputText.replacingOccurrences(of: "\r\n", with: "\n")
  }

  @Test func wordsAppearOnATerminalAndJSONElsewhere() throws {
    let samples = try Samples.shared.get()
    let line = "\"$AFM\" generate \(samples.packed) --prompt 'the path' -n 12"
    let report = try #require(
      try JSONSerialization.jsonObject(with: Program.shell(line).output) as? [String: Any])
    let text = try #require(report["text"] as? String)
    let shown = text.hasSuffix("\n") ? text : text + "\n"
    let plain = try Program.shell(line + " --text")
    #expect(plain.outputText == shown, "\(plain)")
    #expect(plain.error.isEmpty)
    // A terminal may show control characters in its own way.
    let letters = { (text: String) in text.filter { $0.isLetter || $0.isNumber } }
    #expect(try letters(onTerminal(line)) == letters(text))
    let forced = try onTerminal(line + " --json 2> /dev/null")
    #expect(forced.contains("\"finish\":"), "\(forced)")
  }

  @Test func whoWaitsForATerminalSaysSo() throws {
    let samples = try Samples.shared.get()
    let line = "\"$AFM\" tokenize \(samples.packed)"
    let shown = try onTerminal(line, input: "that\n\u{4}")
    #expect(shown.contains("waiting for text on standard input"), "\(shown)")
    let piped = try Program.shell("printf that | \(line)")
    #expect(piped.error.isEmpty, "\(piped)")
  }

  @Test func tensorsAreListedWhereNobodyWouldScroll() throws {
    let samples = try Samples.shared.get()
    let line = "\"$AFM\" inspect \(samples.packed)"
    let name = "blk.1.ffn_down.weight"
    let shown = try onTerminal(line)
    #expect(!shown.contains(name) && shown.contains("--tensors lists"), "\(shown)")
    #expect(try onTerminal(line + " --tensors").contains(name))
    let piped = try Program.shell(line).outputText
    #expect(piped.contains(name))
    // The sums by format come first.
    let table = try #require(piped.range(of: "bits per weight\n"))
    let list = try #require(piped.range(of: name))
    #expect(table.upperBound < list.lowerBound)
    for line in shown.split(separator: "\n").dropFirst() { #expect(line.count <= 112, "\(line)") }
  }
}
