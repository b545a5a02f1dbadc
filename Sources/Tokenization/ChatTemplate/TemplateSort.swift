/// A stable merge sort, each of whose comparisons and moves is paid for.
enum TemplateSort {
  static func sorted<Element>(
    _ elements: [Element], _ budget: inout TemplateBudget,
    by precedes: (Element, Element, inout TemplateBudget) throws(ChatTemplateError) -> Bool
  ) throws(ChatTemplateError) -> [Element] {
    try budget.makeRoom(for: 3 * MemoryLayout<Element>.stride * elements.count)
    var current = elements
    var width = 1
    while width < current.count {
      try budget.spend(current.count)
      var merged: [Element] = []
      merged.reserveCapacity(current.count)
      for start in stride(from: 0, to: current.count, by: 2 * width) {
        let middle = min(start + width, current.count)
        let end = min(middle + width, current.count)
        var (left, right) = (start, middle)
        while left < middle, right < end {
          if try precedes(current[right], current[left], &budget) {
            merged.append(current[right])
            right += 1
          } else {
            merged.append(current[left])
            left += 1
          }
        }
        merged += current[left..<middle]
        merged += current[right..<end]
      }
      current = merged
      width *= 2
    }
    return current
  }
}
