/// Numbers as text, the same on every machine and in every locale.
package enum DecimalText {
  /// Rounded half away from zero to so many decimals. Magnitudes past what an integer holds are
  /// written as Swift writes them.
  package static func fixed(_ value: Double, _ decimals: Int) -> String {
    precondition((0...9).contains(decimals), "decimals outside 0...9")
    let scale = (0..<decimals).reduce(1) { power, _ in power * 10 }
    let scaled = (value.magnitude * Double(scale)).rounded()
    guard scaled < 1e18 else { return "\(value)" }
    let units = Int(scaled)
    let sign = value < 0 && units > 0 ? "-" : ""
    let whole = "\(sign)\(units / scale)"
    guard decimals > 0 else { return whole }
    let fraction = "\(units % scale)"
    return "\(whole).\(String(repeating: "0", count: decimals - fraction.count))\(fraction)"
  }
}
