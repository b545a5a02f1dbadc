import ArgumentParser
import Files
import PackedFormats
import TensorCore

extension ASTCCommand {
  struct Encode: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "encode",
      abstract: "Writes an image of one component as 6x6 blocks (.astc).",
      usage: "afm-bench astc encode [<options>] <input> <shape> <output>",
      discussion: """
        Values are expected from 0 to 1 (ldr) or 0 to 65504 (hdr); what is beyond is moved to the \
        edge and counted. NaN, infinity and, in hdr, negative values are refused. Where 6 does not \
        divide a dimension, the last texels are repeated.

        Example: afm-bench astc encode image.f32 480x640 image.astc --effort thorough
        """)

    @Argument(help: "The values: row-major little-endian float32.")
    var input: String

    @Argument(help: "Rows and columns, such as 480x640.")
    var shape: String

    @Argument(help: "The file to write (.astc).")
    var output: String

    @Option(help: ArgumentHelp("The profile.", valueName: "profile"))
    var profile: Profile = .ldr

    @Option(help: ArgumentHelp("How long to search.", valueName: "effort"))
    var effort: QuantizationOptions.Effort = .medium

    @Flag(help: "Prints one JSON object.")
    var json = false

    struct Report: Encodable {
      var file: String
      var profile: String
      var effort: String
      var width: Int
      var height: Int
      var blocks: Int
      var clipped: Int

      var text: String {
        let line = "\(file): \(width) x \(height) texels, \(blocks) blocks, \(profile), \(effort)"
        return clipped > 0 ? line + "\nclipped values: \(clipped)" : line
      }
    }

    var files: CommandFiles {
      [.file(input, "the values"), .output(output, "the file to write", .astcImage)]
    }

    func run() throws {
      let image = try parsedShape()
      let file = try ASTCCommand.open(input)
      let byteCount = image.width * image.height * 4
      guard file.byteCount == byteCount else {
        throw InputError(
          file: input, offset: min(file.byteCount, byteCount),
          reason: "\(file.byteCount) bytes instead of the \(byteCount) of \(shape) float32")
      }
      var out = try OutputFile(creating: output)
      // Bytes have no padding to read, here and below.
      try out.append(unsafe image.header.span.bytes)
      var writer = ASTCImageWriter(image, profile: profile.profile, effort: effort)
      for row in 0..<image.blockRowCount {
        let first = row * 6 * image.width
        let count = min(6, image.height - row * 6) * image.width
        let values = try ASTCCommand.read(file, at: first * 4, count: count * 4).floats
        if let fault = writer.firstFault(values) {
          throw InputError(
            file: input, place: "row \((first + fault) / image.width)",
            offset: (first + fault) * 4, reason: "no texel can be \(values[fault])")
        }
        let blocks = writer.blocks(row: row, values: values)
        try out.append(unsafe blocks.span.bytes)
      }
      let report = Report(
        file: output, profile: profile.rawValue, effort: effort.rawValue, width: image.width,
        height: image.height, blocks: image.blockCount, clipped: writer.clippedCount)
      try out.commit()
      try Console.report(json ? Console.json(report) : report.text)
    }

    private func parsedShape() throws -> ASTCImageFile {
      let sides = shape.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
      let limit = ASTCImageFile.sideLimit
      guard sides.count == 2, let rows = sides[0], let columns = sides[1], 1...limit ~= rows,
        1...limit ~= columns
      else {
        throw CommandFailure(
          .usage, "'\(shape)' is not ROWSxCOLUMNS with 1 to \(limit) each")
      }
      return ASTCImageFile(width: columns, height: rows)
    }
  }
}

extension [UInt8] {
  /// Little-endian binary32 numbers; a rest of less than four bytes is left out.
  fileprivate var floats: [Float] {
    (0..<count / 4).map { index in
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(self[index * 4 + $1]) << (8 * UInt32($1)) }
      return Float(bitPattern: bits)
    }
  }
}
