import KVCache

/// Rows of a step that belong to one sequence: tokens one after another, at positions likewise.
struct StepSegment {
  /// Which of the rows somebody reads at the end. The others need the layers that make keys and
  /// values, and no layer behind those.
  enum Reading {
    case every, last, none
  }

  let sequence: CacheSequence
  let adapter: ModelAdapter?
  let reading: Reading
  /// The first row of the step, and how many there are.
  private(set) var row: Int
  private(set) var rowCount: Int
  /// The first row's position.
  private(set) var firstPosition: Int

  init(
    sequence: CacheSequence, adapter: ModelAdapter?, reading: Reading, row: Int, rowCount: Int
  ) {
    self.sequence = sequence
    self.adapter = adapter
    self.reading = reading
    self.row = row
    self.rowCount = rowCount
    firstPosition = sequence.positionCount
  }

  var rows: Range<Int> { row..<row + rowCount }

  /// Rows that somebody reads.
  var readRows: Range<Int> {
    switch reading {
    case .every: rows
    case .last: rows.suffix(1)
    case .none: row..<row
    }
  }

  /// Has the rows that somebody reads alone, and those at `row`.
  mutating func keepReadRows(at row: Int) {
    let kept = readRows
    firstPosition += kept.lowerBound - self.row
    rowCount = kept.count
    self.row = row
  }
}
