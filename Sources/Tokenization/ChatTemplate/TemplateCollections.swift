/// A list or a tuple, and how deeply it nests.
///
/// Its elements are handed out against a budget; the count and one element by its index cost nothing
/// that grows.
package struct TemplateList: Sendable {
  private let storage: [TemplateValue]
  let isTuple: Bool
  let depth: Int

  /// A list that no template made.
  package init(given elements: [TemplateValue], isTuple: Bool = false) {
    storage = elements
    self.isTuple = isTuple
    depth = 1 + (elements.map(\.depth).max() ?? 0)
  }

  /// What a builder has collected and paid for.
  init(_ builder: consuming TemplateListBuilder, isTuple: Bool) {
    storage = builder.elements
    self.isTuple = isTuple
    depth = builder.depth
  }

  var count: Int { storage.count }
  var isEmpty: Bool { storage.isEmpty }

  /// One element; nil outside the list.
  func element(at index: Int) -> TemplateValue? {
    storage.indices.contains(index) ? storage[index] : nil
  }

  /// All elements, to go through them.
  func elements(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> [TemplateValue] {
    try budget.spend(1 + storage.count / 8)
    return storage
  }
}

/// Collects the elements of a list, each paid for before it is taken.
struct TemplateListBuilder {
  /// Bytes of an element, and of one in an array that grows by doubling.
  private static let elementBytes = (exact: 40, growing: 104)
  /// Values nest at most so deeply, so that going through one cannot exhaust the stack.
  static let maximumDepth = 64

  private(set) var elements: [TemplateValue] = []
  private(set) var depth = 1
  private var reserved = 0

  init() {}

  /// Pays for the memory of so many elements at once.
  init(reserving count: Int, _ budget: inout TemplateBudget) throws(ChatTemplateError) {
    let (byteCount, overflows) = count.multipliedReportingOverflow(by: Self.elementBytes.exact)
    try budget.spend(memory: overflows ? .max : byteCount)
    elements.reserveCapacity(count)
    reserved = count
  }

  mutating func append(
    _ value: TemplateValue, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(1)
    if reserved > 0 {
      reserved -= 1
    } else {
      try budget.spend(memory: Self.elementBytes.growing)
    }
    depth = max(depth, 1 + (try Self.checkedDepth(of: value, budget)))
    elements.append(value)
  }

  /// Appends the elements of a list: less than a step each, since they are already plain.
  mutating func append(
    contentsOf list: TemplateList, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    let more = try list.elements(&budget)
    reserved -= more.count
    if reserved < 0 {
      try budget.spend(memory: -reserved * Self.elementBytes.growing)
      reserved = 0
    }
    depth = max(depth, list.depth)
    elements += more
  }

  /// How deeply a value nests that is to become a part of another.
  static func checkedDepth(
    of value: TemplateValue, _ budget: TemplateBudget
  ) throws(ChatTemplateError) -> Int {
    guard value.isPlain else {
      throw budget.failure(.unsupported, "\(value.type.rawValue) as an element")
    }
    guard value.depth < maximumDepth else {
      throw budget.failure(.limit, "values nest too deeply")
    }
    return value.depth
  }
}

/// A mapping from strings that keeps its order, and how deeply it nests.
///
/// Looking up costs the same whatever the size: few entries are searched by their hashes, more have
/// an index.
package struct TemplateMapping: Sendable {
  package typealias Entry = (key: TemplateKey, value: TemplateValue)

  private static let searchedCount = 8
  /// Bytes of an entry, its place in the index, and what arrays that grow leave empty.
  private static let entryBytes = 256

  private var storage: [Entry] = []
  private var places: [TemplateKey: Int] = [:]
  private(set) var depth = 1

  package init() {}

  /// A mapping that no template made; of equal keys the last counts.
  package init(given pairs: [(String, TemplateValue)]) {
    for (key, value) in pairs { set(TemplateKey(given: key), value) }
  }

  /// This mapping with the entries of another, none of which a template made.
  package func merging(_ other: TemplateMapping) -> TemplateMapping {
    var result = self
    for entry in other.storage { result.set(entry.key, entry.value) }
    return result
  }

  var count: Int { storage.count }
  var isEmpty: Bool { storage.isEmpty }

  /// The entries as the caller gave them: for callers, since a template pays for its look.
  package var given: [Entry] { storage }

  /// All entries in their order.
  func entries(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> [Entry] {
    try budget.spend(1 + storage.count / 4)
    return storage
  }

  func value(
    for key: TemplateKey, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> TemplateValue? {
    try budget.spend(1)
    return place(of: key).map { storage[$0].value }
  }

  mutating func set(
    _ key: TemplateKey, _ value: TemplateValue, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(2)
    _ = try TemplateListBuilder.checkedDepth(of: value, budget)
    if place(of: key) == nil { try budget.spend(memory: Self.entryBytes) }
    set(key, value)
  }

  /// Pays for what becomes of a mapping that is copied to be changed.
  func payForCopy(_ budget: inout TemplateBudget) throws(ChatTemplateError) {
    try budget.spend(1 + storage.count)
    try budget.spend(memory: storage.count * Self.entryBytes)
  }

  private func place(of key: TemplateKey) -> Int? {
    storage.count <= Self.searchedCount
      ? storage.firstIndex { $0.key == key } : places[key]
  }

  private mutating func set(_ key: TemplateKey, _ value: TemplateValue) {
    depth = max(depth, 1 + value.depth)
    if let place = place(of: key) {
      storage[place].value = value
      return
    }
    storage.append((key, value))
    if storage.count == Self.searchedCount + 1 {
      for (index, entry) in storage.enumerated() { places[entry.key] = index }
    } else if storage.count > Self.searchedCount {
      places[key] = storage.count - 1
    }
  }
}
