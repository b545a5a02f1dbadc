import Foundation
import TestSupport
import Testing

/// What each kind of mistake ends with: the documented exit code, one line that names the place, and
/// nothing on standard output.
@Suite struct ExitCodeTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var line: String
    var code: Int32
    /// What the message says.
    var says: [String]
    var environment: [String: String] = [:]
    var testDescription: String { line }

    init(_ line: String, _ code: Int32, _ says: String..., environment: [String: String] = [:]) {
      self.line = line
      self.code = code
      self.says = says
      self.environment = environment
    }
  }

  static let usage: [Case] = [
    Case("nonsense", 2, "nonsense"), Case("inspect", 2, "<file>"),
    Case("inspect @tiny.afmw --nonsense", 2, "--nonsense"),
    Case("pack @tiny.gguf @o --weights zz", 2, "'zz'"),
    Case("pack @tiny.gguf @o --level 99", 2, "--level must be in 1...22"),
    Case("pack @tiny.gguf @o --partition-limit 4", 2, "--partition-limit must be in 1...3"),
    Case("kernels --partition-limit 0", 2, "--partition-limit must be at least 1"),
    Case("pack @tiny.gguf @tiny.gguf", 2, "tiny.gguf", "the output is the input itself"),
    Case("dump @tiny.gguf output_norm.weight @tiny.gguf", 2, "the output is the input itself"),
    Case("run @tiny.afmw -t 0", 2, "-t '0'"), Case("run @tiny.afmw -p x", 2, "-p 'x'"),
    Case("run @tiny.afmw -p 1-99999999999", 2, "more than 10000 values"),
    Case("run @tiny.afmw -p 99999999999999999999", 2, "too large"),
    Case("run @tiny.afmw -p 9223372036854775807", 2, "at most"),
    Case("run @tiny.afmw -n 1000000000000", 2, "at most"),
    Case("run @tiny.afmw -n 1 -d 9223372036854775807", 2, "-d", "at most"),
    Case("run @tiny.afmw -pg 9223372036854775807,9223372036854775807", 2, "-pg", "at most"),
    Case("run @tiny.afmw --prompt-file @prompt --max-tokens 9223372036854775807", 2, "at most"),
    Case("run @tiny.afmw -n 1 --reasoning-budget light=9223372036854775807", 2, "at most"),
    Case("run @tiny.afmw -n 1 -r 9223372036854775807", 2, "-r", "at most"),
    Case("run @tiny.afmw -n 1 -t 9223372036854775807", 2, "-t", "at most"),
    Case("run @tiny.afmw -p 1-9999 -d 1-9999", 2, "tests in all"),
    Case("pack @tiny.gguf @o -t 9223372036854775807", 2, "-t", "at most"),
    Case("run @tiny.afmw -p 0", 2, "nothing to measure"), Case("run @tiny.afmw -r 0", 2, "-r"),
    Case("run @tiny.afmw --tier moon", 2, "'moon'", "on-device, private-cloud"),
    Case("run @tiny.afmw --reasoning much", 2, "'much'"),
    Case("run @tiny.afmw -n 1 --tier on-device --reasoning deep", 2, "none of these tiers"),
    Case("run @tiny.afmw -ctk f8", 2, "-ctk 'f8'"), Case("run @tiny.afmw -o xml", 2, "'xml'"),
    Case("run @tiny.afmw -n 1 --isa bogus", 2, "'bogus'"),
    Case("logits --model @tiny.afmw --ids-file @ids -ctv f8", 2, "-ctv 'f8'"),
    Case("logits --model @tiny.afmw --ids-file @ids --top 0", 2, "--top"),
    Case(
      "logits --model @tiny.afmw --ids-file @ids", 2, "'bogus'", environment: ["AFM_ISA": "bogus"]),
    Case("generate --model @tiny.afmw --prompt-file @prompt -n 0", 2, "-n must be"),
    Case("generate --model @tiny.afmw --prompt-file @prompt --top-p 2", 2, "--top-p"),
    Case("score --model @tiny.afmw --text-file @text --ctx 3", 2, "--ctx"),
    Case("score --model @tiny.afmw --text-file @text --ctx 257", 2, "--ctx 257", "256"),
    Case("trace export @noise --to moon @o", 2, "'moon'"),
    Case("astc decode @noise @o --profile moon", 2, "'moon'"),
    Case("astc decode @noise @noise", 2, "noise", "the output is the input itself"),
    Case("astc encode @noise 1x1 @noise", 2, "noise", "the output is the input itself"),
    Case("astc encode @noise 4 @o", 2, "'4' is not ROWSxCOLUMNS"),
    Case("astc encode @noise 4x0 @o", 2, "'4x0'"),
    Case("astc encode @noise 1x1x1 @o", 2, "'1x1x1'"),
    Case("astc encode @noise 99999999999999999999x2 @o", 2, "1 to 16777215"),
    Case("astc encode @noise 1x1 @o --effort much", 2, "'much'"),
    Case("astc benchmark --rows 0", 2, "--rows"),
    Case("astc benchmark --clipping 0", 2, "--clipping"),
    Case("astc benchmark --partition-limit 4", 2, "--partition-limit"),
  ]

  static let input: [Case] = [
    Case("inspect @absent", 3, "absent: cannot open: No such file"),
    Case("inspect @noise", 3, "noise", "offset 0"),
    Case("inspect @short.afmw", 3, "short.afmw"), Case("verify @short.afmw", 3, "short.afmw"),
    Case("verify @flipped.afmw", 3, "flipped.afmw", "tensor", "frame", "offset"),
    Case("verify @tiny.gguf", 3, "tiny.gguf"), Case("verify @empty", 3, "empty", "0 bytes"),
    Case("run @short.afmw -n 1", 3, "short.afmw"),
    Case("run @tiny.afmw @absent -n 1", 3, "absent: cannot open"),
    Case("run @tiny.afmw --prompt-file @empty", 3, "empty: the prompt is empty"),
    Case("pack @tiny.afmw @o", 3, "it is packed already"),
    Case("pack @mute.gguf @o", 3, "mute.gguf: tokenizer"),
    Case("pack @nan.gguf @o", 3, "nan.gguf: tensor blk.1.attn_k.weight", "row 1"),
    Case("pack @starlight.gguf @o", 3, "starlight.gguf", "general.architecture"),
    Case("dump @tiny.afmw nothing @o", 3, "tensor nothing: the file has no such tensor"),
    Case("logits --model @absent --ids-file @ids", 3, "absent"),
    Case("logits --model @tiny.afmw --ids-file @absent", 3, "absent: cannot read: No such file"),
    Case("logits --model @tiny.afmw --ids-file @outside", 3, "outside: index 2: token 259"),
    Case("logits --model @tiny.afmw --ids-file @none", 3, "none: there are no token ids"),
    Case("logits --model @tiny.afmw --ids-file @broken", 3, "broken: ", "not a JSON array"),
    Case("logits --model @tiny.afmw --ids-file @many", 3, "many: ", "limit is 256", "300 needed"),
    Case("logits --model @flipped.afmw --ids-file @ids", 3, "flipped.afmw", "tensor", "offset"),
    Case("generate --model @tiny.afmw --prompt-file @empty", 3, "empty: the prompt is empty"),
    Case(
      "generate --model @tiny.afmw --prompt-file @long", 3, "long: ", "limit is 256", "300 needed"),
    Case("generate --model @tiny.afmw --prompt-file /", 3, "/: cannot read: Is a directory"),
    Case("generate --model @mute.gguf --prompt-file @prompt", 3, "mute.gguf: tokenizer"),
    Case("score --model @tiny.afmw --text-file @prompt --ctx 64", 3, "prompt: ", "0 windows"),
    Case("tokenize --model @mute.gguf", 3, "mute.gguf: tokenizer"),
    Case("tokenize --model @tiny.afmw --decode", 3, "standard input: not a JSON array"),
    Case("trace summary @noise", 3, "noise: ", "offset"),
    Case("astc decode @absent @o", 3, "absent: cannot open: No such file"),
    Case("astc encode @absent 1x1 @o", 3, "absent: cannot open: No such file"),
    Case("astc encode @noise 16777215x16777215 @o", 3, "noise: offset", "bytes instead of the"),
    Case("astc decode @noise @o", 3, "noise: offset 0: not an .astc file"),
    Case("trace export @empty --to perfetto @o", 3, "empty: ", "offset 0"),
  ]

  static let environment: [Case] = [
    Case("pack @tiny.gguf @absent/o", 4, "absent/o: cannot create: No such file"),
    Case("pack @tiny.gguf /", 4, "/: cannot create: it is a directory"),
    Case("pack @tiny.gguf /proc/x", 4, "/proc/x: cannot create"),
    Case("pack @tiny.gguf /dev/full", 4, "/dev/full: cannot create: it is not a regular file"),
    Case("dump @tiny.gguf output_norm.weight @absent/o", 4, "absent/o: cannot create"),
    Case("run @tiny.afmw -n 1 --trace @absent/o", 4, "absent/o: cannot create"),
    Case("run @tiny.afmw -n 1 --bundle @ids", 4, "ids: cannot make files there"),
    Case("run @tiny.afmw -n 1 --bundle /proc/x", 4, "/proc/x: cannot make files there"),
  ]

  @Test(arguments: usage + input + environment)
  func endsWithItsCode(_ mistake: Case) throws {
    let samples = try Samples.shared.get()
    let result = try Program.run(
      samples.arguments(mistake.line), environment: mistake.environment)
    #expect(result.status == mistake.code, "\(result)")
    #expect(result.output.isEmpty, "\(result)")
    let first = String(result.errorLines.first ?? "")
    for words in mistake.says { #expect(first.contains(words), "\(result)") }
    // Usage errors of the parser have the usage after the reason.
    if mistake.code != 2 { #expect(result.errorLines.count == 1, "\(result)") }
    #expect(!samples.folder.names.contains("o"), "something was written")
    #expect(!samples.folder.names.contains { $0.hasSuffix(".partial") })
  }

  @Test(arguments: [
    "", "run", "pack", "make", "inspect", "verify", "dump", "tokenize", "logits", "generate",
    "score",
    "trace", "trace export", "trace summary", "astc", "astc decode", "astc encode",
    "astc benchmark",
  ])
  func helpHasAnExample(command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    let result = try Program.run(words + ["--help"])
    #expect(result.status == 0)
    #expect(result.outputText.contains("\nExample: "), "\(result)")
    let lost = try Program.shell("\"$AFM\" \(command) --help > /dev/full")
    #expect(lost.status == 4, "\(lost)")
  }

  @Test func versionIsOneLine() throws {
    let result = try Program.run(["--version"])
    #expect(result.status == 0)
    #expect(result.outputText.wholeMatch(of: /afm-bench \d+\.\d+\.\d+ .*\n/) != nil, "\(result)")
  }

  @Test func anInstructionSetThatTheMachineLacksIsItsFault() throws {
    let flags = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let samples = try Samples.shared.get()
    let line = "logits --model @tiny.afmw --ids-file @ids --json"
    let result = try Program.run(
      samples.arguments(line), environment: ["AFM_ISA": "avx512vnni"])
    #expect(result.status == (flags.contains("avx512_vnni") ? 0 : 4), "\(result)")
    // The option wins over the variable.
    let forced = try Program.run(
      samples.arguments(line + " --isa portable"), environment: ["AFM_ISA": "bogus"])
    #expect(forced.status == 0, "\(forced)")
  }
}
