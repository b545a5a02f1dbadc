import CKernels

// Addresses are hints: nothing is read from them.

/// What is asked for while a panel is multiplied: an equal part of it in every step of every tile, so
/// that the requests never wait for each other.
@unsafe struct CodePanelAhead: BitwiseCopyable {
  private let base: UnsafeRawPointer
  /// Bytes a step, and a tile.
  private let step: Int
  private let tileByteCount: Int
  /// Tiles of a bundle of columns.
  private let rowTileCount: Int

  /// Of a panel in tiles of that many rows and columns.
  @inline(__always) init(_ panel: CKCodePanel, rows: Int, columns: Int) {
    let steps = unsafe (panel.depth &+ 1) &>> 1
    unsafe rowTileCount = (panel.rowCount &+ rows &- 1) / rows
    let stepCount = unsafe rowTileCount &* (panel.columnCount / columns) &* steps
    if let next = unsafe panel.next, stepCount > 0 {
      unsafe base = next
      unsafe step = (panel.nextByteCount &+ stepCount &- 1) / stepCount
    } else {
      // Lines that are here already.
      unsafe base = UnsafeRawPointer(panel.a)
      unsafe step = 0
    }
    unsafe tileByteCount = step &* steps
  }

  /// Where a tile's part begins.
  @inline(__always) func begin(rowTile: Int, columnTile: Int) -> UnsafeRawPointer {
    unsafe base + (columnTile &* rowTileCount &+ rowTile) &* tileByteCount
  }

  @inline(__always) func ask(_ place: inout UnsafeRawPointer) {
    unsafe ck_prefetch(place)
    unsafe place = unsafe place + step
  }
}
