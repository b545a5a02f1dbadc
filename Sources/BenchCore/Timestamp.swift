import TraceCore

/// Moments as text: ISO 8601, UTC, whole seconds.
package enum Timestamp {
  /// Now, such as `2025-06-30T12:34:56Z`.
  package static func now() -> String {
    text(secondsSince1970: Int(TraceClock.snapshot().realtimeNanoseconds / 1_000_000_000))
  }

  /// The proleptic Gregorian date, from days counted in eras of 400 years that begin on 1 March.
  package static func text(secondsSince1970 seconds: Int) -> String {
    precondition(seconds >= 0, "results are newer than 1970")
    let day = seconds / 86_400 + 719_468
    let era = day / 146_097
    let dayOfEra = day % 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = [year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1].map(twoDigits)
    let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(twoDigits)
    return date.joined(separator: "-") + "T" + time.joined(separator: ":") + "Z"
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
