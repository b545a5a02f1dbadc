/// Which row of one side belongs to which of the other.
struct RowJoin {
  /// A test on both sides, or why there is no such pair.
  enum Pair {
    case matched(MeasuredRow, MeasuredRow)
    case refused(test: String, reason: String)
  }

  private(set) var pairs: [Pair] = []
  /// The fields in which the sides differ as a whole.
  private(set) var differences: [(field: String, a: String, b: String)] = []

  private let keyFields: [String]
  private let settingFields: [String]

  /// Rows are joined by what was asked for, and by each subject that has several values on a side. A
  /// subject with one value on each side is what the comparison is about.
  init(_ a: Measurements, _ b: Measurements) {
    func values(_ field: String, of side: Measurements) -> Set<String> {
      Set(side.rows.map { $0.fields[field] ?? "" })
    }
    var keys = a.workloadFields.filter(b.workloadFields.contains)
    for field in a.subjectFields where b.subjectFields.contains(field) {
      let (first, second) = (values(field, of: a), values(field, of: b))
      if first.count == 1, second.count == 1, let one = first.first, let other = second.first {
        if one != other { differences.append((field, one, other)) }
      } else {
        keys.append(field)
      }
    }
    keyFields = keys
    settingFields = a.settingFields.filter(b.settingFields.contains)
    join(a.rows, b.rows)
  }

  private mutating func join(_ a: [MeasuredRow], _ b: [MeasuredRow]) {
    let groupsA = Dictionary(grouping: a, by: key)
    let groupsB = Dictionary(grouping: b, by: key)
    var seen: Set<[String]> = []
    for row in a {
      let key = key(of: row)
      guard seen.insert(key).inserted, let first = groupsA[key] else { continue }
      pairs.append(pair(first, groupsB[key] ?? []))
    }
    for row in b where seen.insert(key(of: row)).inserted {
      pairs.append(.refused(test: row.test, reason: "only B has it"))
    }
  }

  private func key(of row: MeasuredRow) -> [String] { keyFields.map { row.fields[$0] ?? "" } }

  private func pair(_ a: [MeasuredRow], _ b: [MeasuredRow]) -> Pair {
    let test = a[0].test
    guard !b.isEmpty else { return .refused(test: test, reason: "only A has it") }
    if let refusal = (a + b).compactMap(\.refusal).first {
      return .refused(test: test, reason: refusal)
    }
    for field in settingFields {
      // A program that does not say it cannot contradict one that does.
      let found = Set((a + b).compactMap { $0.fields[field] })
      if found.count > 1 {
        let words = found.sorted().map { "'\($0)'" }.joined(separator: " and ")
        return .refused(test: test, reason: "\(field) differs: \(words)")
      }
    }
    for (name, side) in [("A", a), ("B", b)] where Set(side.map(\.fields)).count > 1 {
      return .refused(test: test, reason: "\(side.count) different rows of \(name) match")
    }
    return .matched(pooled(a), pooled(b))
  }

  /// Rows of one configuration that was measured more than once, as one.
  private func pooled(_ rows: [MeasuredRow]) -> MeasuredRow {
    var result = rows[0]
    for row in rows.dropFirst() {
      for index in result.metrics.indices {
        let more = row.metrics.first { $0.name == result.metrics[index].name }
        result.metrics[index].samples += more?.samples ?? []
      }
    }
    return result
  }
}
