import ArgumentParser
import Files
import PackedFormats
import TensorCore

struct ASTCCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "astc",
    abstract: "The ASTC 6x6 codec alone.",
    discussion: "Example: afm-bench astc decode image.astc image.f32 --profile ldr",
    subcommands: [Decode.self, Encode.self, Benchmark.self])

  /// The profiles on the command line.
  enum Profile: String, ExpressibleByArgument, CaseIterable {
    case ldr
    case hdr

    var profile: ASTCProfile { self == .ldr ? .ldr : .hdr }
  }

  struct Decode: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "decode",
      abstract: "Writes the first component of every texel: row-major little-endian float32.",
      usage: "afm-bench astc decode [<options>] <input> <output>",
      discussion: """
        Texels of an illegal block are NaN; such blocks are counted by kind. An HDR endpoint mode \
        in the LDR profile is no illegal block: its texels are 255/256, as astcenc shows them.

        Example: afm-bench astc decode image.astc image.f32 --profile hdr --json
        """)

    @Argument(help: "The file with 6x6 blocks (.astc).")
    var input: String

    @Argument(help: "The file to write.")
    var output: String

    @Option(help: ArgumentHelp("The profile.", valueName: "profile"))
    var profile: Profile = .ldr

    @Flag(help: "Exits with 3 at the first illegal block, and writes nothing.")
    var strict = false

    @Flag(help: "Prints one JSON object.")
    var json = false

    struct Report: Encodable {
      var file: String
      var profile: String
      var width: Int
      var height: Int
      var blocks: Int
      var illegal_blocks: Int
      var illegal_by_kind: [String: Int]
      var hdr_endpoint_blocks: Int

      var text: String {
        var lines = ["\(file): \(width) x \(height) texels, \(blocks) blocks, \(profile)"]
        lines += illegal_by_kind.sorted { $0.key < $1.key }.map {
          "illegal: \($0.key): \($0.value)"
        }
        if hdr_endpoint_blocks > 0 {
          lines.append("HDR endpoint mode in the LDR profile: \(hdr_endpoint_blocks)")
        }
        return lines.joined(separator: "\n")
      }
    }

    var files: CommandFiles {
      [.file(input, "the image"), .output(output, "the file to write", .floats)]
    }

    func run() throws {
      let file = try ASTCCommand.open(input)
      let image: ASTCImageFile
      do throws(InputError) {
        let count = min(file.byteCount, ASTCImageFile.headerByteCount)
        image = try ASTCImageFile(
          header: ASTCCommand.read(file, at: 0, count: count), fileByteCount: file.byteCount)
      } catch { throw error.inFile(input) }
      var out = try OutputFile(creating: output)
      var reader = ASTCImageReader(image, profile: profile.profile)
      let rowBytes = image.blockColumnCount * ASTCBlock.byteCount
      for row in 0..<image.blockRowCount {
        let offset = ASTCImageFile.headerByteCount + row * rowBytes
        let blocks = try ASTCCommand.read(file, at: offset, count: rowBytes)
        let values = reader.firstComponents(row: row, blocks: blocks)
        if strict, let first = reader.firstFault {
          throw InputError(
            file: input, place: "block \(first.block)",
            offset: ASTCImageFile.headerByteCount + first.block * ASTCBlock.byteCount,
            reason: "illegal: \(first.fault)")
        }
        // Floats have no padding to read.
        try out.append(unsafe values.span.bytes)
      }
      let report = Report(
        file: input, profile: profile.rawValue, width: image.width, height: image.height,
        blocks: image.blockCount, illegal_blocks: reader.faults.values.reduce(0, +),
        illegal_by_kind: Dictionary(
          uniqueKeysWithValues: reader.faults.map { ($0.key.rawValue, $0.value) }),
        hdr_endpoint_blocks: reader.hdrEndpointBlockCount)
      try out.commit()
      try Console.report(json ? Console.json(report) : report.text)
    }
  }

  static func open(_ path: String) throws(InputError) -> InputFile {
    do throws(FileError) { return try InputFile(opening: path) } catch {
      throw InputError(error, file: path)
    }
  }

  static func read(
    _ file: borrowing InputFile, at offset: Int, count: Int
  ) throws(InputError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    // Any byte is a UInt8.
    var raw = unsafe span.mutableBytes
    do throws(FileError) { try file.read(at: offset, into: &raw) } catch {
      throw InputError(error, file: file.path, offset: offset)
    }
    return bytes
  }
}
