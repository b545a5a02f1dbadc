/// llama-bench's lists of numbers: `a,b,c`, `first-last` (steps of 1), `first-last+step`,
/// `first-last*factor`; parts may be mixed, and a range ends at the last value not above `last`.
package enum NumberList {
  /// More values than this are taken for a slip of the pen.
  package static let maximumCount = 10_000

  /// The values in the order written. `option` is named in errors, such as `-p`.
  package static func parse(
    _ text: String, option: String, minimum: Int = 0
  ) throws(RunPlanError) -> [Int] {
    var values: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      try append(part, to: &values, option: option)
    }
    if let low = values.first(where: { $0 < minimum }) {
      throw RunPlanError(option: option, text: text, reason: "\(low) is below \(minimum)")
    }
    return values
  }

  /// llama-bench's `-pg P,N`: a prompt and a generation length, both above 0.
  package static func parsePair(
    _ text: String, option: String
  ) throws(RunPlanError) -> (prompt: Int, generated: Int) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw RunPlanError(option: option, text: text, reason: "two numbers are needed: P,N")
    }
    let prompt = try number(parts[0], of: parts[0], option: option)
    let generated = try number(parts[1], of: parts[1], option: option)
    guard prompt > 0 && generated > 0 else {
      throw RunPlanError(option: option, text: text, reason: "both numbers must be above 0")
    }
    return (prompt, generated)
  }

  private static func append(
    _ part: Substring, to values: inout [Int], option: String
  ) throws(RunPlanError) {
    let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let first = try number(ends[0], of: part, option: option)
    guard ends.count == 2 else {
      values.append(first)
      return
    }
    let rest = ends[1]
    let sign = rest.firstIndex { $0 == "+" || $0 == "*" }
    let last = try number(rest[..<(sign ?? rest.endIndex)], of: part, option: option)
    var multiplies = false
    var step = 1
    if let sign {
      multiplies = rest[sign] == "*"
      step = try number(rest[rest.index(after: sign)...], of: part, option: option)
    }
    guard last >= first else {
      throw RunPlanError(option: option, text: part, reason: "the range ends before it begins")
    }
    guard multiplies ? (step > 1 && first > 0) : step > 0 else {
      throw RunPlanError(option: option, text: part, reason: "the range does not advance")
    }
    var value = first
    while value <= last {
      guard values.count < maximumCount else {
        throw RunPlanError(option: option, text: part, reason: "more than \(maximumCount) values")
      }
      values.append(value)
      let next =
        multiplies
        ? value.multipliedReportingOverflow(by: step) : value.addingReportingOverflow(step)
      if next.overflow { return }
      value = next.partialValue
    }
  }

  /// Decimal digits only: `Int` alone would take signs too.
  private static func number(
    _ digits: Substring, of part: Substring, option: String
  ) throws(RunPlanError) -> Int {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw RunPlanError(
        option: option, text: part, reason: digits.isEmpty ? "a number is missing" : "not a number")
    }
    guard let value = Int(digits) else {
      throw RunPlanError(option: option, text: part, reason: "the number is too large")
    }
    return value
  }
}

/// Why an option's value was not understood, in one line.
package struct RunPlanError: Error, Hashable, Sendable, CustomStringConvertible {
  package var option: String
  package var text: String
  package var reason: String

  package init(option: String, text: some StringProtocol, reason: String) {
    self.option = option
    self.text = String(text)
    self.reason = reason
  }

  package var description: String { "\(option) '\(text)': \(reason)" }
}
