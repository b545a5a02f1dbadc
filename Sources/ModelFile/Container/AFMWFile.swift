import Files
import PackedFormats
import TensorCore
import Tokenization

/// An open `.afmw` file: its header, tokenizer and tensor directory, and the way to tensor bytes.
///
/// Opening reads and checks the first 64 bytes and the index at the end, nothing else, and maps
/// nothing; tensor bytes are read when they are asked for, through ``ModelLoader``, which maps the
/// file meanwhile. May be used from several threads at once. The format is specified in <doc:Container>.
public final class AFMWFile: Sendable {
  /// The path that was opened.
  public let path: String
  /// Bytes of the whole file.
  public let byteCount: Int
  /// Architecture and hyperparameters.
  public let header: ModelHeader
  /// The tokenizer, where the file has one.
  public let tokenizer: TokenizerDescription?
  /// Where the model came from, in the words of the importer that packed it.
  public let provenance: [String: String]
  /// The tensors in the order of the directory.
  public let tensors: [StoredTensor]
  /// Low-rank additions to some of the tensors, in the order of those.
  public let adapters: [LowRankAdapter]

  /// The digest of the index, which has the digest of every tensor: two files with the same one are the
  /// same model in the same formats.
  public let digest: UInt64

  let file: InputFile
  let table: FrameTable
  let unnamedFrames: [Int]
  private let indexByNames: [String: Int]

  /// Opens a file and checks everything but tensor bytes.
  ///
  /// Costs two reads, memory of a small multiple of the index, and a few milliseconds for a
  /// vocabulary of 50,000 tokens.
  public init(opening path: String) throws(InputError) {
    do {
      file = try InputFile(opening: path)
    } catch {
      throw InputError(error, file: path)
    }
    self.path = path
    byteCount = file.byteCount
    let index: ContainerIndex
    do {
      index = try Self.readIndex(of: file)
    } catch {
      throw error.inFile(path)
    }
    header = index.header
    tokenizer = index.tokenizer
    provenance = index.provenance
    tensors = index.tensors
    adapters = index.adapters
    digest = index.digest
    table = index.table
    unnamedFrames = index.unnamedFrames
    // The parser has refused duplicate names.
    indexByNames = Dictionary(
      uniqueKeysWithValues: index.tensors.enumerated().map { ($1.name, $0) })
  }

  /// The place of a tensor in `tensors`, or nil where the file has none of that name.
  public func index(ofTensor name: String) -> Int? { indexByNames[name] }

  /// The low-rank addition to a tensor, where it has one.
  public func adapter(ofTensor index: Int) -> LowRankAdapter? {
    // Ascending, as the reader has checked.
    var (low, high) = (0, adapters.count)
    while low < high {
      let middle = (low + high) / 2
      if adapters[middle].tensor < index { low = middle + 1 } else { high = middle }
    }
    guard low < adapters.count, adapters[low].tensor == index else { return nil }
    return adapters[low]
  }

  /// Whether the first bytes of a file are those of an `.afmw` file of any version.
  public static func isContainer(_ firstBytes: [UInt8]) -> Bool {
    firstBytes.count >= 12
      && Array(firstBytes[8..<12]) == ContainerLayout.magic
      && firstBytes[0] == UInt8(ContainerLayout.prologueFrameMagic & 0xFF)
      && Array(firstBytes[1..<4]) == [0x2A, 0x4D, 0x18]
  }

  /// Asks the system to forget what it keeps of the file, so that the next loading comes from the
  /// disk, and returns the share that it keeps nevertheless, 0…1.
  public func evictFromPageCache() throws(InputError) -> Double {
    file.evict()
    do { return try MappedFile(file).residentAtStart } catch {
      throw InputError(error, file: path)
    }
  }

  private static func readIndex(
    of file: borrowing InputFile
  ) throws(InputError) -> ContainerIndex {
    guard file.byteCount >= ContainerLayout.prologueByteCount else {
      throw InputError(
        place: "prologue", offset: file.byteCount,
        reason: "the file has \(file.byteCount) bytes, too few for an .afmw file")
    }
    let start = try file.bytes(at: 0, byteCount: ContainerLayout.prologueByteCount)
    let prologue = try Prologue(parsing: start, actualByteCount: file.byteCount)
    // The prologue has been held against the file's byte count: the rest is at most the file.
    let tail = try file.bytes(
      at: prologue.indexOffset, byteCount: file.byteCount - prologue.indexOffset)
    return try ContainerIndex(parsing: tail, prologue: prologue)
  }
}

extension InputFile {
  /// Bytes that the caller has found to lie in the file.
  fileprivate borrowing func bytes(at offset: Int, byteCount: Int) throws(InputError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var span = bytes.mutableSpan
    // Bytes have no padding, and every value is a valid one.
    var raw = unsafe span.mutableBytes
    do {
      try read(at: offset, into: &raw)
    } catch {
      throw InputError(error, offset: offset)
    }
    return bytes
  }
}
