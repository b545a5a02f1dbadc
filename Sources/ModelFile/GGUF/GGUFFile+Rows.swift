import TensorCore

extension GGUFFile {
  /// Bytes that one read of tensor data asks for at most.
  private static let chunkByteCount = 1 << 18

  /// Writes rows of a tensor as float32, row-major, into `output`, whose count is
  /// rows.count × columnCount. May be called from several threads.
  ///
  /// Reads through a buffer of 256 KiB. The values are bit-equal to those of PyPI `gguf`'s
  /// `gguf.quants.dequantize`; they may be NaN or infinite where the file says so.
  package func readRows(
    _ rows: Range<Int>, of tensor: GGUFTensor, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    let columnCount = tensor.shape.columnCount
    precondition(
      rows.lowerBound >= 0 && rows.upperBound <= tensor.shape.rowCount, "rows outside the tensor")
    precondition(output.count == rows.count * columnCount, "the output does not fit the rows")
    let type = tensor.type
    let unitsPerRow = columnCount / type.unitElementCount
    let unitsPerChunk = Self.chunkByteCount / type.unitByteCount
    let firstUnit = rows.lowerBound * unitsPerRow
    let unitCount = rows.count * unitsPerRow
    guard unitCount > 0 else { return }

    let buffer = AlignedStorage(byteCount: min(unitsPerChunk, unitCount) * type.unitByteCount)
    var done = 0
    while done < unitCount {
      let count = min(unitsPerChunk, unitCount - done)
      let byteCount = count * type.unitByteCount
      let offset = tensor.offset + (firstUnit + done) * type.unitByteCount
      // The buffer holds at least `byteCount` bytes and outlives this turn of the loop.
      var bytes = unsafe MutableRawSpan(_unsafeStart: buffer.baseAddress, byteCount: byteCount)
      try file.read(at: offset, into: &bytes, place: "tensor \(tensor.name)")
      // `count` units lie in the buffer, and their elements in the output from `start` on: the
      // chunks add up to the rows, whose element count was checked above.
      let start = done * type.unitElementCount
      unsafe bytes.withUnsafeBytes { raw in
        unsafe output.withUnsafeMutableBufferPointer { values in
          unsafe GGUFDequantizer.dequantize(
            type, unitCount: count, from: raw,
            into: .init(
              rebasing: values[start..<start + count * type.unitElementCount]))
        }
      }
      done += count
    }
  }
}
