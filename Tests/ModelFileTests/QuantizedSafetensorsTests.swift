import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// Codes and scales that come in through safetensors, and go out again.
@Suite struct QuantizedSafetensorsTests {
  static let coded = WeightFormat.allCases.filter { $0.codeRange != nil }
  static let packed = WeightFormat.allCases.filter(\.isASTC)

  /// Header of a made-up architecture, so that any tensors are a model.
  private static var header: String {
    var header = ModelHeader.sample
    header.architecture = "made-up"
    header.name = "sample"
    header.vocabularySize = 4
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(header)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// A file with one tensor `w`, and the plane bytes that it means.
  struct Sample {
    var file = SafetensorsBytes()
    var planes: [Plane: [UInt8]] = [:]

    init(_ format: WeightFormat, rows: Int, columns: Int, seed: UInt64) throws {
      var generator = SeededGenerator(seed: seed)
      file.metadata = [
        ("afm.header", QuantizedSafetensorsTests.header.replacing("\"", with: "\\\"")),
        ("w.format", format.name),
      ]
      if let range = format.codeRange, let bits = format.codeBitCount {
        let codes = (0..<rows * columns).map { _ in Int.random(in: range, using: &generator) }
        let type = range.lowerBound < 0 ? "I8" : "U8"
        file.add(
          "w.codes", type, [rows, columns], codes.map { UInt8(truncatingIfNeeded: $0) })
        // Element j of a row at bit j · bits, rows on byte boundaries.
        let rowBytes = (columns * bits + 7) / 8
        var plane = [UInt8](repeating: 0, count: rows * rowBytes)
        for (index, code) in codes.enumerated() {
          let bit = index % columns * bits
          let mask = (1 << bits) - 1
          plane[index / columns * rowBytes + bit / 8] |= UInt8((code & mask) << (bit % 8))
        }
        planes[.codes] = plane
      } else {
        file.metadata.append(("w.columns", String(columns)))
        let blocks = rows * ((columns + 35) / 36)
        // Constant blocks of any color; in HDR finite binary16 numbers.
        let plane = (0..<blocks).flatMap { _ -> [UInt8] in
          let color = (0..<4).flatMap { _ in
            GGUFWriter.little(UInt16.random(in: 0..<0x7000, using: &generator))
          }
          let head: [UInt8] = format == .astc6x6LDR ? [0xFC, 0xFD] : [0xFC, 0xFF]
          return head + [UInt8](repeating: 0xFF, count: 6) + color
        }
        file.add("w.blocks", "U8", [rows, plane.count / rows], plane)
        planes[.codes] = plane
      }
      for plane in format.planes where plane != .codes {
        let name = plane == .scales ? "w.scales" : "w.minimums"
        switch format.axis(of: plane) {
        case .group(let size):
          let groups = (columns + size - 1) / size
          let values = (0..<rows * groups).map { _ in Float.random(in: 0...2, using: &generator) }
          file.addHalves(name, [rows, groups], values)
        case .channel:
          file.add(name, [rows], (0..<rows).map { _ in .random(in: 0...2, using: &generator) })
        default: file.add(name, [1], [.random(in: 0...2, using: &generator)])
        }
        planes[plane] = file.tensors[file.tensors.count - 1].data
      }
    }
  }

  /// 700 rows of 397 columns are two pieces for the packer, with a ragged end everywhere.
  @Test(arguments: coded + packed) func codesArePackedBitForBit(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let sample = try Sample(format, rows: 700, columns: 397, seed: 11)
    let (input, output) = (folder.path("in.safetensors"), folder.path("out.afmw"))
    try sample.file.write(to: input)
    let model = try SafetensorsModel(path: input)
    #expect(model.tensors.map(\.stored) == [format])
    let report = try ModelPacker(weights: .s8c, embedding: .s8c, threads: 2)
      .pack(model, to: output)
    #expect(report.tensors[0].relativeError == 0)
    let file = try AFMWFile(opening: output)
    try file.verify(threads: 2)
    let tensor = try file.loadTensor(named: "w")
    #expect(tensor.format == format && tensor.shape.dimensions == [700, 397])
    for plane in format.planes {
      #expect(bytes(tensor.planes.bytes(of: plane)) == sample.planes[plane], "\(plane)")
    }
    // Out as codes and in again: the same planes once more, under the same names.
    let back = folder.path("back.safetensors")
    _ = try SafetensorsExport(content: .codes).write(file, to: back)
    let exported = try SafetensorsFile(path: back)
    let names = sample.file.tensors.map(\.name)
    #expect(Set(exported.tensors.map(\.name)) == Set(names))
    for part in sample.file.tensors {
      let found = try #require(exported.tensor(named: part.name))
      #expect(found.element.rawValue == part.type && found.shape.dimensions == part.shape)
      var content = [UInt8](repeating: 0, count: found.byteCount)
      var span = content.mutableSpan
      var raw = unsafe span.mutableBytes
      try exported.readBytes(from: 0, of: found, into: &raw)
      #expect(content == part.data, "\(part.name)")
    }
    let again = folder.path("again.afmw")
    _ = try ModelPacker(weights: .s8c, embedding: .s8c).pack(
      SafetensorsModel(path: back), to: again)
    let second = try AFMWFile(opening: again).loadTensor(named: "w")
    for plane in format.planes {
      #expect(bytes(second.planes.bytes(of: plane)) == sample.planes[plane], "\(plane)")
    }
  }

  /// The example of ModelFile.docc/QuantizedSafetensors.md.
  @Test func theWorkedExampleIsPackedAsItSays() throws {
    let folder = try ScratchFolder()
    var file = SafetensorsBytes()
    file.metadata = [
      ("afm.header", Self.header.replacing("\"", with: "\\\"")), ("w.format", "u2c"),
    ]
    file.add("w.codes", "U8", [2, 3], [0, 1, 2, 3, 0, 1])
    file.add("w.scales", "F32", [2], [0, 0, 0x80, 0x3F, 0, 0, 0, 0x3F])
    try file.write(to: folder.path("w.safetensors"))
    let model = try SafetensorsModel(path: folder.path("w.safetensors"))
    var values = [Float](repeating: .nan, count: 6)
    var output = values.mutableSpan
    try model.readRows(0..<2, ofTensor: 0, into: &output)
    #expect(values == [-1.5, -0.5, 0.5, 0.75, -0.75, -0.25])
    _ = try ModelPacker(weights: .s8c, embedding: .s8c).pack(model, to: folder.path("w.afmw"))
    let tensor = try AFMWFile(opening: folder.path("w.afmw")).loadTensor(named: "w")
    #expect(bytes(tensor.codes) == [0x24, 0x13])
    #expect(bytes(tensor.scales) == [0, 0, 0x80, 0x3F, 0, 0, 0, 0x3F])
  }

  /// Packed blocks, in any ranges of rows, from a file and as planes of a source.
  @Test(arguments: coded + packed)
  func rowsAreReadBitForBit(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let sample = try Sample(format, rows: 9, columns: 145, seed: 14)
    try sample.file.write(to: folder.path("in.safetensors"))
    let model = try SafetensorsModel(path: folder.path("in.safetensors"))
    #expect(model.tensors.map(\.stored) == [format])
    #expect(model.tensors[0].shape.dimensions == [9, 145])
    for rows in [0..<9, 0..<1, 3..<7, 8..<9] {
      var found = Plane.allCases.map { plane in
        let count = format.byteCount(of: plane, rows: rows.count, columns: 145) ?? 0
        return [UInt8](repeating: 0xAA, count: count)
      }
      var (codes, scales, minimums) = (found[0], found[1], found[2])
      do {
        var codeSpan = codes.mutableSpan
        var scaleSpan = scales.mutableSpan
        var minimumSpan = minimums.mutableSpan
        // Bytes have no padding, and every value is a valid one.
        var planes = unsafe MutablePackedPlanes(
          codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
          minimums: minimumSpan.mutableBytes)
        try model.readPlanes(rows, ofTensor: 0, into: &planes)
      }
      found = [codes, scales, minimums]
      for plane in format.planes {
        let whole = try #require(sample.planes[plane])
        let isShared = format.axis(of: plane) == .tensor
        let width = isShared ? 0 : whole.count / 9
        let expected =
          isShared ? whole : Array(whole[rows.lowerBound * width..<rows.upperBound * width])
        #expect(found[Int(plane.rawValue)] == expected, "\(plane) of \(rows)")
      }
    }
  }

  @Test func scalesOfOtherTypesAreTakenWhereTheyAreExact() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.safetensors")
    var sample = try Sample(.u2g64, rows: 2, columns: 70, seed: 12)
    let scales = sample.file.tensors.removeLast()
    let halves: [Float] = [1, 0.5, 0.25, 1.5]
    sample.file.add(scales.name, scales.shape, halves)
    try sample.file.write(to: path)
    let output = folder.path("m.afmw")
    let packer = ModelPacker(weights: .s8c, embedding: .s8c)
    _ = try packer.pack(SafetensorsModel(path: path), to: output)
    let tensor = try AFMWFile(opening: output).loadTensor(named: "w")
    #expect(
      bytes(tensor.scales) == halves.flatMap { GGUFWriter.little(Float16($0).bitPattern) })
    // A third is no binary16 number: refused with its row, and no file appears.
    sample.file.tensors[sample.file.tensors.count - 1].data.replaceSubrange(
      8..<12, with: GGUFWriter.little((1.0 / 3 as Float).bitPattern))
    try sample.file.write(to: path)
    let refused = folder.path("refused.afmw")
    let error = #expect(throws: PackError.self) {
      try packer.pack(SafetensorsModel(path: path), to: refused)
    }
    #expect(error?.description.contains("tensor w: plane scales, row 1") == true, "\(error as Any)")
    #expect(!FileManager.default.fileExists(atPath: refused))
  }

  struct Defect: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var words: String
    var change: @Sendable (inout SafetensorsBytes) -> Void
  }

  static let defects: [Defect] = [
    .init(testDescription: "no scales", words: "tensor w.scales: the tensor is missing") {
      $0.tensors.removeAll { $0.name == "w.scales" }
    },
    .init(testDescription: "no codes", words: "tensor w.codes: the tensor is missing") {
      $0.tensors.removeAll { $0.name == "w.codes" }
    },
    .init(testDescription: "unknown format", words: "the format u3c is not known") {
      $0.metadata[1].1 = "u3c"
    },
    .init(testDescription: "codes without a format", words: "weights of the type U8") {
      $0.metadata.removeLast()
    },
    .init(testDescription: "signed codes", words: "its type is I8, but u2c needs U8") {
      $0.tensors[0].type = "I8"
    },
    .init(testDescription: "a vector of codes", words: "rows and columns are expected") {
      $0.tensors[0].shape = [12]
    },
    .init(testDescription: "scales of other rows", words: "its shape is 2, not 3") {
      $0.tensors[1].shape = [2]
      $0.tensors[1].data.removeLast(4)
    },
    .init(testDescription: "integer scales", words: "its type is I32, not F32 or F16 or BF16") {
      $0.tensors[1].type = "I32"
    },
    .init(testDescription: "a code too large", words: "tensor w: plane codes, row 2, column 1") {
      $0.tensors[0].data[9] = 4
    },
    .init(testDescription: "a negative scale", words: "plane scales, row 1: a scale is negative") {
      $0.tensors[1].data[7] = 0xBF
    },
    .init(testDescription: "a scale that is not a number", words: "a scale is NaN or infinite") {
      $0.tensors[1].data.replaceSubrange(0..<4, with: [0, 0, 0xC0, 0x7F])
    },
    .init(testDescription: "a format of no tensor", words: "the file has no such tensor") {
      $0.metadata.append(("v.format", "f32"))
    },
    .init(testDescription: "values of another format", words: "the metadata say f16") {
      $0.metadata.append(("v.format", "f16"))
      $0.add("v", [1], [1])
    },
    .init(testDescription: "integers as weights", words: "weights of the type I32") {
      $0.add("v", "I32", [1], [0, 0, 0, 0])
    },
    .init(testDescription: "a header that is no JSON", words: "metadata afm.header") {
      $0.metadata[0].1 = "no"
    },
    .init(testDescription: "a header of no layers", words: "layerCount is 0") {
      $0.metadata[0].1 = $0.metadata[0].1.replacing("layerCount\\\":1", with: "layerCount\\\":0")
    },
    .init(testDescription: "a tokenizer cut short", words: "afm.tokenizer") {
      $0.add("afm.tokenizer", "U8", [3], [1, 2, 3])
    },
  ]

  @Test(arguments: defects) func whatIsNoPackedTensorIsRefused(_ defect: Defect) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.safetensors")
    var sample = try Sample(.u2c, rows: 3, columns: 4, seed: 13)
    defect.change(&sample.file)
    try sample.file.write(to: path)
    var message = ""
    do {
      let model = try SafetensorsModel(path: path)
      _ = try ModelPacker(weights: .s8c, embedding: .s8c).pack(model, to: folder.path("m.afmw"))
    } catch {
      message = String(describing: error)
    }
    #expect(message.contains(defect.words), "\(message)")
    #expect(folder.entries == ["m.safetensors"])
  }
}
