import TraceCore

/// The numbers that stand for names in one sequence of packets, from 1 on in each of Perfetto's
/// four lists, and the definitions that the next packet has to carry.
struct PerfettoInterning {
  private struct Definition {
    var list: UInt32
    var iid: UInt64
    var text: String
  }

  /// The numbers given in one list, by place; 0 where there is none yet.
  private struct List {
    var iids: [UInt64]
    var count: UInt64 = 0

    init(count: Int) { iids = Array(repeating: 0, count: count) }

    /// The number of a place that has none.
    mutating func add(_ place: Int) -> UInt64 {
      count += 1
      iids[place] = count
      return count
    }
  }

  private let strings: [String]
  /// By the code of the name; behind the 256 codes, kernels by the index of their string.
  private var names: List
  private var categories = List(count: TraceCategory.allCases.count)
  private var keys = List(count: 256)
  private var values: List
  private var pending: [Definition] = []

  init(strings: [String]) {
    self.strings = strings
    names = List(count: 256 + strings.count)
    values = List(count: strings.count)
  }

  mutating func name(_ name: TraceName) -> UInt64 {
    let place = Int(name.rawValue)
    if names.iids[place] != 0 { return names.iids[place] }
    return define(PerfettoField.InternedData.eventNames, names.add(place), name.label)
  }

  /// The name of a kernel; nil where the number is no string's.
  mutating func kernel(_ string: Int64) -> UInt64? {
    guard let index = index(string) else { return nil }
    let place = 256 + index
    if names.iids[place] != 0 { return names.iids[place] }
    return define(PerfettoField.InternedData.eventNames, names.add(place), strings[index])
  }

  mutating func category(_ category: TraceCategory) -> UInt64 {
    let place = Int(category.rawValue)
    if categories.iids[place] != 0 { return categories.iids[place] }
    return define(
      PerfettoField.InternedData.eventCategories, categories.add(place), category.label)
  }

  mutating func key(_ key: TraceKey) -> UInt64 {
    let place = Int(key.rawValue)
    if keys.iids[place] != 0 { return keys.iids[place] }
    return define(PerfettoField.InternedData.debugAnnotationNames, keys.add(place), key.label)
  }

  /// A string as the value of an argument; nil where the number is no string's.
  mutating func value(_ string: Int64) -> UInt64? {
    guard let index = index(string) else { return nil }
    if values.iids[index] != 0 { return values.iids[index] }
    return define(
      PerfettoField.InternedData.debugAnnotationStringValues, values.add(index), strings[index])
  }

  private func index(_ string: Int64) -> Int? {
    guard let index = Int(exactly: string), strings.indices.contains(index) else { return nil }
    return index
  }

  private mutating func define(_ list: UInt32, _ iid: UInt64, _ text: String) -> UInt64 {
    pending.append(Definition(list: list, iid: iid, text: text))
    return iid
  }

  /// Whether names were given numbers that no packet has defined yet.
  var hasDefinitions: Bool { !pending.isEmpty }

  /// Writes the fields of `InternedData` for the new names.
  mutating func appendDefinitions(to encoder: inout ProtobufEncoder) {
    // Fields by ascending number.
    pending.sort { ($0.list, $0.iid) < ($1.list, $1.iid) }
    for definition in pending {
      encoder.append(message: definition.list) { entry in
        entry.append(PerfettoField.InternedEntry.iid, definition.iid)
        entry.append(PerfettoField.InternedEntry.text, definition.text)
      }
    }
    pending.removeAll(keepingCapacity: true)
  }
}

/// The group of a name, by which viewers filter.
enum TraceCategory: UInt8, CaseIterable {
  case kernel, model, load, request

  init(_ name: TraceName) {
    self =
      switch name {
      case .kernel: .kernel
      case .layer, .attention, .feedForward, .output, .sample, .embed, .cacheWrite: .model
      case .load, .open, .read, .inflate, .allocate, .transcode, .verify, .validate: .load
      case .session, .request, .inference, .template, .tokenize, .prefill, .decode, .reasoning,
        .response, .tool, .token, .detokenize, .queued, .route:
        .request
      }
  }

  var label: String { String(describing: self) }
}
