import TensorCore
import Tokenization

/// Everything a reader must know before it touches tensor bytes: the sections of the index frame.
///
/// The payload of the frame is a sequence of sections, each a four-letter id, four reserved bytes,
/// the byte count (8 bytes), the bytes, and zeros to a multiple of eight. The first letter of an id
/// says what to do with a section that a reader does not know: upper case is critical (refuse the
/// file), lower case is ancillary (skip it).
struct ContainerIndex {
  var header: ModelHeader
  var provenance: [String: String]
  var tokenizer: TokenizerDescription?
  var tensors: [StoredTensor]
  var adapters: [LowRankAdapter]
  /// Of the index, which holds the digests of everything else.
  let digest: UInt64
  var table: FrameTable
  /// Frames that belong to no plane: of sections that this reader skips.
  var unnamedFrames: [Int]

  private static let known = ["HEAD", "prov", "TOKN", "TENS", "ADPT", "FRAM"]

  /// Reads everything from the index's first byte to the end of the file, already read.
  init(parsing tail: [UInt8], prologue: Prologue) throws(InputError) {
    let base = prologue.indexOffset
    var reader = IndexReader(
      tail, range: 0..<prologue.indexByteCount, base: base, place: "index")
    guard
      ContentDigest.of(tail[..<prologue.indexByteCount])
        == prologue.indexDigest
    else { throw reader.error("the index does not match its digest") }
    digest = prologue.indexDigest
    let magic = try reader.integer(UInt32.self, for: "the frame magic")
    let payload = try reader.integer(UInt32.self, for: "the payload byte count")
    guard magic == ContainerLayout.indexFrameMagic, payload == reader.remaining else {
      throw reader.error("the frame is not an index of this byte count", at: base)
    }
    let sections = try Self.sections(&reader)
    func section(_ id: String) throws(InputError) -> IndexReader {
      guard let section = sections[id] else {
        throw InputError(place: "index", offset: base, reason: "section \(id) is missing")
      }
      return section
    }
    table = try FrameTable(parsing: section("FRAM"), indexOffset: base)
    try Self.checkSeekTable(tail, table: table, prologue: prologue)
    header = try HeaderSection.parse(ModelHeader.self, from: section("HEAD"))
    if let fault = header.fault { throw try section("HEAD").error(fault) }
    provenance = [:]
    if let section = sections["prov"] {
      provenance = try HeaderSection.parse([String: String].self, from: section)
    }
    if let section = sections["TOKN"] { tokenizer = try TokenizerSection.parse(section) }
    var directory = TensorDirectoryParser(try section("TENS"), table: table)
    (tensors, unnamedFrames) = try directory.parse()
    adapters = []
    if let section = sections["ADPT"] {
      adapters = try AdapterSection.parse(section, tensors: tensors)
    }
  }

  /// The sections by id.
  private static func sections(
    _ reader: inout IndexReader
  ) throws(InputError) -> [String: IndexReader] {
    var sections: [String: IndexReader] = [:]
    while reader.remaining > 0 {
      let start = reader.offset
      let idRange = try reader.take(4, for: "a section id")
      let id = String(decoding: reader.bytes[idRange], as: UTF8.self)
      guard reader.bytes[idRange].allSatisfy({ ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }) else {
        throw reader.error("a section id is four letters", at: start)
      }
      try reader.reserved(UInt32.self)
      let byteCount = try reader.count(for: "the byte count of section \(id)")
      let position = reader.position
      let section = try reader.part(byteCount, place: "section \(id)")
      try reader.padding(from: position)
      if known.contains(id) {
        guard sections.updateValue(section, forKey: id) == nil else {
          throw reader.error("a second section \(id)", at: start)
        }
      } else if id.first?.isUppercase == true {
        throw reader.error("the critical section \(id) is unknown", at: start)
      }
    }
    return sections
  }

  /// The seek table says nothing that the frame table does not: it must be the same bytes.
  private static func checkSeekTable(
    _ tail: [UInt8], table: FrameTable, prologue: Prologue
  ) throws(InputError) {
    let start = prologue.indexByteCount
    let expected = table.seekTable(indexByteCount: prologue.indexByteCount)
    guard tail.count - start == expected.count else {
      throw InputError(
        place: "seek table", offset: prologue.indexOffset + start,
        reason: "\(tail.count - start) bytes instead of \(expected.count)")
    }
    if let index = expected.indices.first(where: { expected[$0] != tail[start + $0] }) {
      throw InputError(
        place: "seek table", offset: prologue.indexOffset + start + index,
        reason: "differs from the frame table")
    }
  }

  /// The whole index frame.
  static func encodedFrame(
    header: ModelHeader, provenance: [String: String], tokenizer: TokenizerDescription?,
    directory: [UInt8], adapters: [LowRankAdapter], table: FrameTable
  ) -> [UInt8] {
    var payload: [UInt8] = []
    func append(_ id: String, _ bytes: [UInt8]) {
      payload += Array(id.utf8)
      payload.appendLittleEndian(UInt32(0))
      payload.appendLittleEndian(UInt64(bytes.count))
      payload += bytes
      payload.padToEight(from: 0)
    }
    append("HEAD", HeaderSection.encode(header))
    if !provenance.isEmpty { append("prov", HeaderSection.encode(provenance)) }
    if let tokenizer { append("TOKN", TokenizerSection.encode(tokenizer)) }
    append("TENS", directory)
    if !adapters.isEmpty { append("ADPT", AdapterSection.encode(adapters)) }
    append("FRAM", table.encoded())
    var frame: [UInt8] = []
    frame.reserveCapacity(payload.count + 8)
    frame.appendLittleEndian(ContainerLayout.indexFrameMagic)
    frame.appendLittleEndian(UInt32(payload.count))
    return frame + payload
  }
}
