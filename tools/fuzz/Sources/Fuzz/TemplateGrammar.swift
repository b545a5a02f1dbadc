import RandomNumbers
import Tokenization

/// Writes chat templates at random: every filter, method and test that the interpreter has, over
/// values that grow, in loops that repeat them.
struct TemplateGrammar {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  private mutating func one(of choices: [String]) -> String { choices[below(choices.count)] }

  /// A number: mostly small, at times at an edge, at times as much as a budget can just about pay.
  private mutating func number() -> String {
    switch below(12) {
    case 0:
      one(of: ["9223372036854775807", "-9223372036854775807", "4294967296", "65536", "65535"])
    case 1: String(1 << below(24))
    case 2: one(of: ["0.5", "1e308", "-0.0", "3.25e-300"])
    default: String(below(9) - 2)
    }
  }

  private mutating func text() -> String {
    one(of: [
      "''", "'a'", "' '", "'\\n'", "'ab'", "', '", "'\u{e9}'", "'\\x00'", "'\u{1F600}'",
      "'\u{130}\u{df}'", "'1'", "'0.'", "'<|im_start|>'", "'a.b'", "'role'", "'content'",
    ])
  }

  private mutating func name() -> String {
    one(of: ["s", "t", "l", "d", "n", "n.x", "n.y", "m", "messages", "loop", "tools", "zz"])
  }

  mutating func expression(_ depth: Int) -> String {
    guard depth > 0 else {
      switch below(4) {
      case 0: return number()
      case 1: return text()
      default: return name()
      }
    }
    func inner(_ grammar: inout Self) -> String { grammar.expression(depth - 1) }
    switch below(20) {
    case 0...3:
      let filter = TemplateFilter.allCases[below(TemplateFilter.allCases.count)].rawValue
      return "(\(inner(&self)) | \(filter)\(arguments(depth, optional: true)))"
    case 4...6:
      let method = TemplateMethod.allCases[below(TemplateMethod.allCases.count)].rawValue
      return "(\(inner(&self))).\(method)\(arguments(depth, optional: false))"
    case 7:
      let test = TemplateTest.allCases[below(TemplateTest.allCases.count)].rawValue
      return "(\(inner(&self)) is \(test)\(arguments(depth, optional: true)))"
    case 8: return "(\(inner(&self)) * \(number()))"
    case 9: return "(\(text()) * \(number()))"
    case 10...11:
      let symbol = one(of: ["+", "-", "*", "/", "//", "%", "**", "~", "~", "+"])
      return "(\(inner(&self)) \(symbol) \(inner(&self)))"
    case 12:
      let symbol = one(of: ["==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"])
      return "(\(inner(&self)) \(symbol) \(inner(&self)))"
    case 13: return "[\(inner(&self)), \(inner(&self))]"
    case 14: return "(\(inner(&self)), \(inner(&self)))"
    case 15: return "{\(text()): \(inner(&self)), 'b': \(inner(&self))}"
    case 16:
      let bounds = one(of: ["0", "-1", "1:", ":-1", "::-1", "::2", "-3:", "\(inner(&self)):"])
      return "(\(inner(&self)))[\(bounds)]"
    case 17: return "range(\(number())\(one(of: ["", ", 9", ", 90000, 7"])))"
    case 18: return one(of: ["namespace", "dict", "m", "range"]) + arguments(depth, optional: false)
    default: return "(\(inner(&self)) if \(inner(&self)) else \(inner(&self)))"
    }
  }

  private mutating func arguments(_ depth: Int, optional: Bool) -> String {
    let count = below(optional ? 4 : 3)
    if optional, count == 0 { return "" }
    let names = ["attribute=", "reverse=", "a=", "b=", "separators=", "sort_keys=", "indent="]
    let values = (0..<(optional ? count - 1 : count)).map { _ in
      (below(6) == 0 ? one(of: names) : "") + expression(depth - 1)
    }
    // A filter or test by its name, for `map` and `select`.
    let filter = TemplateFilter.allCases[below(TemplateFilter.allCases.count)].rawValue
    let first = below(4) == 0 ? ["'\(filter)'"] : []
    return "(" + (first + values).joined(separator: ", ") + ")"
  }

  mutating func statement(_ depth: Int) -> String {
    let value = expression(below(4))
    guard depth > 0 else { return "{{ \(value) }}" }
    switch below(9) {
    case 0...1:
      return "{% set \(one(of: ["s", "t", "l", "d", "a, b"])) = \(value) %}" + statement(depth - 1)
    case 2: return "{% set n = namespace(x=\(value), y=[]) %}" + statement(depth - 1)
    case 3:
      // What doubles from turn to turn.
      let next = one(of: [
        "(n.x, n.x)", "[n.x, n.x]", "n.x ~ n.x", "n.x + n.x", "{'a': n.x, 'b': n.x}",
        "n.x ~ 'abcdefgh'", "n.x + [1]", "[n.x]", expression(2),
      ])
      return "{% for i in range(\(1 + below(64))) %}{% set n.x = \(next) %}{% endfor %}"
        + statement(depth - 1)
    case 4:
      let count = below(10) == 0 ? 1 << below(20) : below(4)
      return "{% for i in range(\(count)) %}\(statement(depth - 1)){% endfor %}"
    case 5: return "{% for a in \(value) %}\(statement(depth - 1)){% else %}-{% endfor %}"
    case 6: return "{% if \(value) %}\(statement(depth - 1)){% else %}\(statement(0)){% endif %}"
    case 7:
      let parameters = one(of: ["", "a", "a, b=2", "a='x', b=[]"])
      return "{% macro m(\(parameters)) %}\(statement(depth - 1)){% endmacro %}{{ m(1) }}"
    default: return "{% set s %}\(statement(depth - 1)){% endset %}" + statement(depth - 1)
    }
  }

  /// Some bytes with a part written anew where a template may take one; nil where they are left to
  /// changes byte by byte.
  mutating func mutated(_ bytes: [UInt8], maximumCount: Int) -> [UInt8]? {
    var result: [UInt8]
    switch below(8) {
    case 0...2: return nil
    case 3: result = Array(statement(1 + below(3)).utf8)
    case 4...5:
      // Between two tags.
      let places = [0, bytes.count] + ends(of: "}}", in: bytes) + ends(of: "%}", in: bytes)
      let place = places[below(places.count)]
      result = bytes[..<place] + Array(statement(below(3)).utf8) + bytes[place...]
    case 6:
      // A number in place of another, or an expression.
      let places = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
      guard !places.isEmpty else { return nil }
      let place = places[below(places.count)]
      let new = below(3) == 0 ? expression(2) : number()
      result = bytes[..<place] + Array(new.utf8) + bytes[(place + 1)...]
    default:
      // A filter behind an expression.
      let places = ends(of: "{{", in: bytes)
      guard !places.isEmpty else { return nil }
      let place = places[below(places.count)]
      result = bytes[..<place] + Array(" \(expression(2)) ~ ".utf8) + bytes[place...]
    }
    return result.count <= maximumCount ? result : nil
  }

  private func ends(of mark: String, in bytes: [UInt8]) -> [Int] {
    let mark = Array(mark.utf8)
    return bytes.indices.dropLast().compactMap {
      bytes[$0] == mark[0] && bytes[$0 + 1] == mark[1] ? $0 + 2 : nil
    }
  }
}
