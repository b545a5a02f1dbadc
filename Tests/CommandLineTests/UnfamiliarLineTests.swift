import Foundation
import TestSupport
import Testing

/// Command lines as newcomers type them, each with the exit code and the words that help.
@Suite struct UnfamiliarLineTests {
  struct Line: CustomTestStringConvertible, Sendable {
    /// A shell's line; `$AFM` is the program, and the folder is that of the files.
    var text: String
    var code: Int32
    /// What standard error says, in its first line.
    var says: [String]
    var testDescription: String { text }

    init(_ text: String, _ code: Int32, _ says: String...) {
      self.text = text
      self.code = code
      self.says = says
    }
  }

  /// Files of every kind that people confuse.
  struct Files {
    let folder: TemporaryFolder

    static let shared = Result { try Files() }

    private init() throws {
      folder = try TemporaryFolder()
      let samples = try Samples.shared.get()
      try FileManager.default.createDirectory(
        at: folder.url("models"), withIntermediateDirectories: false)
      try FileManager.default.createDirectory(
        at: folder.url("nothing"), withIntermediateDirectories: false)
      for (source, name) in [
        ("tiny.gguf", "tiny.gguf"), ("tiny.afmw", "tiny.afmw"), ("tiny.afmw", "models/a.afmw"),
        ("tiny.afmw", "models/b.afmw"), ("short.afmw", "short.afmw"),
        ("flipped.afmw", "flipped.afmw"),
      ] {
        try FileManager.default.copyItem(at: samples.folder.url(source), to: folder.url(name))
      }
      try TinyModel(architecture: "gemma").bytes.write(to: folder.url("gemma.gguf"))
      for (name, bytes) in [
        ("prompt.txt", Array("Why is the sky blue?".utf8)), ("empty.txt", []),
        ("binary.txt", Array("the ".utf8) + [0xFF, 0xFE] + Array(" path".utf8)),
        ("long.txt", Array(repeating: UInt8(ascii: "x"), count: 300)),
        ("notes.txt", Array("to keep".utf8)), ("x.json", Array("{}".utf8)),
        ("model.pt", Array("PK\u{3}\u{4}archive/data.pkl".utf8)), ("data.json", Array("{}".utf8)),
        ("page.gguf", Array("<!DOCTYPE html><html></html>".utf8)),
        ("pointer.gguf", Array("version https://git-lfs.github.com/spec/v1\n".utf8)),
      ] as [(String, [UInt8])] {
        try Data(bytes).write(to: folder.url(name))
      }
      let made = try Program.shell(
        """
        cd '\(folder.path)' && "$AFM" run tiny.afmw -p 2 -r 1 --tier on-device \
        --trace run.afmtrace -o csv && "$AFM" trace export run.afmtrace --to perfetto \
        run.perfetto-trace && "$AFM" make afm-ondevice-tiny other.safetensors --adapter-rank 2
        """)
      guard made.status == 0 else { throw Samples.Failure(description: "\(made)") }
    }
  }

  /// What is another file than the command takes.
  static let kinds: [Line] = [
    Line(
      "run models", 3, "models: a folder has to be a Hugging Face model",
      "it has 2 .afmw files: name them"),
    Line("run .", 3, "it has 3 .afmw files: name them"),
    Line(
      "inspect nothing", 3, "a folder has to be a Hugging Face model",
      "model.safetensors: cannot open"),
    Line("pack prompt.txt o.afmw", 3, "neither GGUF, safetensors nor .afmw", "this is text"),
    Line("inspect prompt.txt", 3, "neither GGUF, safetensors nor .afmw", "this is text"),
    Line("inspect model.pt", 3, "neither GGUF, safetensors nor .afmw", "PyTorch"),
    Line("run data.json.gz", 3, "data.json.gz: cannot open: No such file"),
    Line("run page.gguf", 3, "an HTML page"), Line("run pointer.gguf", 3, "Git LFS"),
    Line("run run.afmtrace", 3, "this is a recording"),
    Line("generate run.perfetto-trace -p hello", 3, "this is an export for Perfetto"),
    Line("load tiny.gguf", 3, "this is GGUF: pack it first"),
    Line("verify tiny.gguf", 3, "this is GGUF: pack it first"),
    Line("export tiny.gguf o.safetensors", 3, "this is GGUF: pack it first"),
    Line("load other.safetensors", 3, "this is safetensors: pack it first"),
    Line("verify prompt.txt", 3, "not an .afmw file: this is text"),
    Line("load models", 3, "this is a folder"),
    Line("trace summary run.perfetto-trace", 3, "this is an export", "(.afmtrace)"),
    Line("trace summary tiny.afmw", 3, "a recording is needed (.afmtrace): this is a packed model"),
    Line("trace summary data.json", 3, "a recording is needed (.afmtrace): this is JSON"),
    Line("cache replay tiny.gguf", 3, "a request trace is needed", "this is GGUF"),
    Line("replay tiny.afmw models/a.afmw", 3, "a request trace is needed", "a packed model"),
    Line("pack tiny.afmw o.afmw", 3, "it is packed already"),
    Line("inspect gemma.gguf", 0), Line("run gemma.gguf", 3, "gemma", "llama and qwen2"),
    Line("run tiny.afmw -n 1 --adapter other.safetensors", 3, "other.safetensors"),
    Line("verify short.afmw", 3, "short.afmw"),
    Line("verify flipped.afmw", 3, "flipped.afmw: tensor"),
  ]

  /// What would have been written over, or under a name that promises another format.
  static let outputs: [Line] = [
    Line("run tiny.afmw --bundle .", 2, "--bundle"), Line("run tiny.afmw --bundle models", 2),
    Line("run tiny.afmw --trace notes.txt", 2, "notes.txt", ".afmtrace"),
    Line("run tiny.afmw --trace x.json", 2, "x.json", ".afmtrace"),
    Line("run tiny.afmw --trace new.json", 2, "new.json", ".afmtrace"),
  ]

  /// What is spelled as elsewhere, or nearly right.
  static let words: [Line] = [
    Line("run tiny.afmw -p 64 128", 2, "-p 64 128: lists are written 64,128"),
    Line("run -p 64 128 tiny.afmw", 2, "lists are written 64,128"),
    Line("run tiny.afmw -n 1, 2, 3", 2, "lists are written 1,2,3"),
    Line("run tiny.afmw --mmap 1", 2, "--mmap takes no value"),
    Line("run tiny.afmw -p -5", 2, "Missing value for '-p <tokens>'"),
    Line("run tiny.afmw -p abc", 2, "-p 'abc': not a number"),
    Line("run tiny.afmw --tier cloud", 2, "'cloud'", "on-device, private-cloud"),
    Line("run tiny.afmw --reasoning deeep", 2, "'deeep'", "none, light, moderate, deep"),
    Line("pack tiny.gguf o.afmw --weight s8c", 2, "Did you mean '--weights'?"),
    Line("run tiny.afmw -o html", 2, "'html'"),
    Line("cache replay x --budget 64G", 2, "--budget '64G'", "64MiB"),
    Line("kernels --shape 2048", 2, "--shape '2048'"),
    Line("kernels --op gmev", 2, "'gmev'", "gemv"),
    Line("run tiny.afmw -n 1 --isa avx512", 2, "'avx512'", "avx512vnni"),
    Line("run tiny.afmw -fa 1", 2, "-fa: ", "attention"),
    Line("run tiny.afmw -ngl 99", 2, "-ngl: ", "GPU"),
    Line("run tiny.afmw -ctk q4_0", 2, "-ctk 'q4_0'", "q8_0 and q4_1"),
    Line("logits tiny.afmw --ids-file x -ctv q4_0", 2, "-ctv 'q4_0'", "q8_0 and q4_1"),
    Line("pack tiny.gguf o.afmw --weights q4_0", 2, "'q4_0'", "q8_0 and q4_1"),
    Line("kernels --weights q5_K", 2, "'q5_K'", "q8_0 and q4_1"),
    Line("rum tiny.afmw", 2, "Did you mean 'run'?"),
    Line("generate tiny.afmw", 2, "'--prompt <text>' or '--prompt-file <file>'"),
    Line("generate tiny.afmw -p a --prompt-file prompt.txt", 2, "both given"),
    Line("generate tiny.afmw -p ''", 2, "the prompt is empty"),
    Line("generate tiny.afmw -p a --text --json", 2, "exclude each other"),
    Line("generate -p a", 2, "Missing expected argument '<file>'"),
    Line("inspect -m tiny.afmw tiny.gguf", 2, "named twice"),
    Line("dump tiny.afmw output_norm.weight", 2, "Missing expected argument '<output>'"),
    Line("export tiny.afmw", 2, "Missing expected argument '<output>'"),
    Line("replay -m tiny.afmw", 2, "Missing expected argument '<trace>'"),
    Line("generate tiny.afmw --prompt-file empty.txt", 3, "empty.txt: the prompt is empty"),
    Line(
      "generate tiny.afmw --prompt-file long.txt", 3, "long.txt: ", "limit is 256", "300 needed"),
    Line("run absent.afmw", 3, "absent.afmw: cannot open: No such file"),
    Line("pack tiny.gguf tiny.gguf", 2, "tiny.gguf"),
  ]

  @Test(arguments: kinds + outputs + words)
  func isAnswered(line: Line) throws {
    let files = try Files.shared.get()
    let before = files.folder.names
    let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line.text)")
    #expect(result.status == line.code, "\(result)")
    let first = String(result.errorLines.first ?? "")
    for words in line.says { #expect(first.contains(words), "\(result)") }
    #expect(files.folder.names == before, "something was written")
  }

  /// What worked under one name only.
  @Test(arguments: [
    "inspect -m tiny.afmw", "inspect --model tiny.afmw", "inspect --model=tiny.gguf",
    "verify -m tiny.afmw", "load -m tiny.afmw -r 1", "load tiny.afmw --repetitions 1 --threads 1",
    "run -m tiny.afmw -m models/a.afmw -p 2 -r 1", "run -m tiny.afmw,models/a.afmw -p 2 -r 1",
    "generate tiny.afmw -p hello -n 2", "generate -m tiny.afmw --prompt hello --n-gen 2",
    "generate --model tiny.afmw --prompt-file prompt.txt -n 2",
    "score tiny.afmw --text-file long.txt --ctx 64", "tokenize tiny.afmw",
    "tokenize --model tiny.afmw",
  ])
  func aModelIsNamedInEitherWay(line: String) throws {
    let files = try Files.shared.get()
    let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line) < /dev/null")
    #expect(result.status == 0, "\(result)")
  }

  @Test func aModelIsNamedInEitherWayBesideOtherFiles() throws {
    let files = try Files.shared.get()
    let folder = try TemporaryFolder()
    func run(_ line: String) throws {
      let line = line.replacingOccurrences(of: "@", with: folder.path + "/")
      let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line)")
      #expect(result.status == 0, "\(line): \(result)")
    }
    try run("dump tiny.afmw output_norm.weight @a.f32")
    try run("dump -m tiny.afmw output_norm.weight @b.f32")
    try run("dump output_norm.weight --model tiny.afmw @c.f32")
    try run("export tiny.afmw @a.safetensors")
    try run("export @b.safetensors -m tiny.afmw")
    try run("pack tiny.gguf @a.afmw --weights q4_1")
    try run("pack --model tiny.gguf @b.afmw --weights u4g32")
    try run("cache generate azure-2023-code @requests.csv --requests 3")
    let rest = "--shorten 1024 --time-scale 0"
    try run("replay tiny.afmw @requests.csv \(rest)")
    try run("replay @requests.csv --model tiny.afmw \(rest)")
    for (a, b) in [("a.f32", "b.f32"), ("a.f32", "c.f32"), ("a.afmw", "b.afmw")] {
      #expect(try Data(contentsOf: folder.url(a)) == Data(contentsOf: folder.url(b)), "\(a) \(b)")
    }
    #expect(
      try Data(contentsOf: folder.url("a.safetensors"))
        == Data(contentsOf: folder.url("b.safetensors")))
  }

  @Test func bytesThatAreNotTextAreNamed() throws {
    let files = try Files.shared.get()
    for command in [
      "generate tiny.afmw --prompt-file binary.txt -n 2",
      "run tiny.afmw --prompt-file binary.txt --max-tokens 2 -r 1 --tier on-device --json",
    ] {
      let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(command)")
      #expect(result.status == 0, "\(result)")
      #expect(result.errorLines.count == 1, "\(result)")
      #expect(result.error.contains("binary.txt: offset 4: "), "\(result)")
      #expect(result.error.contains("U+FFFD"), "\(result)")
      _ = try result.json()
    }
  }

  @Test func moreThreadsThanCoresRunAndAreNamed() throws {
    let files = try Files.shared.get()
    let line = "run tiny.afmw -p 2 -r 1 --tier on-device --json -t 1,2,4,8"
    let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line)")
    #expect(result.status == 0, "\(result)")
    let rows = try #require(try result.json() as? [[String: Any]])
    #expect(rows.map { $0["n_threads"] as? Int } == [1, 2, 4, 8])
  }

  @Test func aRowThatIsInvalidIsAFailedCheck() throws {
    let files = try Files.shared.get()
    // The context of 256 holds what comes before, and no 512 tokens of reasoning.
    let line = "run tiny.afmw -n 1 -r 1 --tier private-cloud --reasoning none,deep"
    let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line)")
    #expect(result.status == 1, "\(result)")
    #expect(result.errorLines.last?.contains("--reasoning-budget deep=") == true, "\(result)")
  }

  @Test func theNamesOfLlamaCppMeanTheirCounterparts() throws {
    let files = try Files.shared.get()
    let line = "run tiny.afmw -p 2 -r 1 --tier on-device --json -ctk q8_0 -ctv q4_1"
    let result = try Program.shell("cd '\(files.folder.path)' && \"$AFM\" \(line)")
    let row = try #require((try result.json() as? [[String: Any]])?.first)
    #expect(row["type_k"] as? String == "s8" && row["type_v"] as? String == "u4g32")
    for command in ["run", "generate", "pack"] {
      #expect(try Program.run([command, "--help"]).outputText.contains("q8_0 stands for"))
    }
  }
}
