import Foundation
import TestSupport
import Testing

/// Texts that never end, and models whose texts no command could read, are bad input.
@Suite struct InputBoundTests {
  /// Devices and pipes without an end, files of 2 TiB without a byte on the disk: exit code 3, one
  /// line, and no more memory than the largest text may have.
  @Test(arguments: [
    ("generate --model $M --prompt-file /dev/zero", 64), ("run $M --prompt-file /dev/urandom", 64),
    ("generate --model $M --prompt-file <(yes)", 64),
    ("generate --model $M --prompt-file - < /dev/zero", 64),
    ("logits --model $M --ids-file /dev/zero", 64), ("tokenize --model $M < /dev/zero", 256),
    ("score --model $M --text-file huge", 256), ("pack $G out --calibrate huge", 256),
    ("cache replay huge", 1024), ("replay huge --model $M", 1024),
    ("trace summary /dev/zero", 1024), ("compare /dev/zero huge", 256),
  ])
  func aTextWithoutEndIsRefused(line: String, mebibytes: Int) throws {
    let samples = try Samples.shared.get()
    let folder = try TemporaryFolder()
    let result = try Program.shell(
      "cd \(folder.path) && truncate -s 2T huge && ulimit -v 3145728 && \"$AFM\" \(line)",
      environment: ["M": samples.packed, "G": samples.gguf])
    #expect(result.status == 3, "\(result)")
    #expect(result.errorLines.count == 1 && result.output.isEmpty, "\(result)")
    #expect(result.error.contains("more than \(mebibytes << 20) bytes"), "\(result)")
    #expect(folder.names == ["huge"])
  }

  static let useless: [(String, TinyModel)] = [
    ("nobody's", TinyModel(tokenizerModel: "nobody's")),
    ("nothing", TinyModel(preTokenizer: "nothing")),
    ("merge 1 repeats merge 0", TinyModel(merges: ["t h", "t h"])),
    ("no token stands for byte", TinyModel(hasControlTokensAlone: true)),
  ]

  /// `pack` refuses at once what every other command would refuse afterwards.
  @Test func packRefusesATokenizerThatNothingCanUse() throws {
    for (says, model) in Self.useless {
      let folder = try TemporaryFolder()
      try model.bytes.write(to: folder.url("in.gguf"))
      let result = try Program.run(["pack", folder.file("in.gguf"), folder.file("out.afmw")])
      #expect(result.status == 3, "\(says): \(result)")
      #expect(result.errorLines.count == 1 && result.output.isEmpty, "\(result)")
      #expect(result.error.contains("in.gguf: tokenizer: "), "\(result)")
      #expect(result.error.contains(says), "\(result)")
      #expect(folder.names == ["in.gguf"])
    }
  }
}
