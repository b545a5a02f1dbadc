extension JSONValue {
  /// What a value encodes, members in the order they are encoded in; an optional that is nil is
  /// null instead of missing.
  package init(_ value: some Encodable) throws {
    let node = JSONNode()
    try JSONValueEncoder(node: node, codingPath: []).encodeValue(value)
    self = node.value
  }
}

/// A place in the result that an encoder or one of its containers fills.
private final class JSONNode {
  private var scalar = JSONValue.null
  private var members: [(name: String, node: JSONNode)]?
  private var elements: [JSONNode]?

  var value: JSONValue {
    if let members {
      .object(members.map { JSONValue.Member(name: $0.name, value: $0.node.value) })
    } else if let elements {
      .array(elements.map(\.value))
    } else {
      scalar
    }
  }

  var elementCount: Int { elements?.count ?? 0 }

  func set(_ value: JSONValue) { scalar = value }

  func beginObject() { members = members ?? [] }

  func beginArray() { elements = elements ?? [] }

  /// The member's place; encoding a name again overwrites it where it stood.
  func member(_ name: String) -> JSONNode {
    let node = JSONNode()
    if let index = members?.firstIndex(where: { $0.name == name }) {
      members?[index].node = node
    } else {
      members = (members ?? []) + [(name, node)]
    }
    return node
  }

  func element() -> JSONNode {
    let node = JSONNode()
    elements = (elements ?? []) + [node]
    return node
  }
}

private struct JSONValueEncoder: Encoder {
  let node: JSONNode
  var codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.beginObject()
    return KeyedEncodingContainer(JSONObjectContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.beginArray()
    return JSONArrayContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    JSONScalarContainer(encoder: self)
  }

  func nested(_ node: JSONNode, _ key: any CodingKey) -> JSONValueEncoder {
    JSONValueEncoder(node: node, codingPath: codingPath + [key])
  }

  /// Numbers, texts and arrays of numbers directly; everything else encodes itself.
  func encodeValue(_ value: some Encodable) throws {
    switch value {
    case let value as Bool: node.set(.bool(value))
    case let value as String: node.set(.string(value))
    case let value as Double: node.set(.real(value))
    case let value as Float: node.set(.real(Double(value)))
    case let value as [UInt64]: node.set(.array(value.map { .unsigned($0) }))
    case let value as [Double]: node.set(.array(value.map { .real($0) }))
    case let value as any FixedWidthInteger: try encodeInteger(value)
    default: try value.encode(to: self)
    }
  }

  private func encodeInteger(_ value: some FixedWidthInteger) throws {
    if let integer = Int64(exactly: value) {
      node.set(.integer(integer))
    } else if let unsigned = UInt64(exactly: value) {
      node.set(.unsigned(unsigned))
    } else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "more than 64 bits"))
    }
  }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func member(_ key: some CodingKey) -> JSONValueEncoder {
    encoder.nested(encoder.node.member(key.stringValue), key)
  }

  private func optional(_ value: (some Encodable)?, _ key: Key) throws {
    if let value { try member(key).encodeValue(value) } else { member(key).node.set(.null) }
  }

  mutating func encodeNil(forKey key: Key) { member(key).node.set(.null) }
  mutating func encode(_ value: some Encodable, forKey key: Key) throws {
    try member(key).encodeValue(value)
  }

  // The defaults of these leave nil out. The compiler calls the one of the exact type.
  mutating func encodeIfPresent(_ v: Bool?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: String?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Double?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Float?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Int?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Int8?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Int16?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Int32?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: Int64?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: UInt?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: UInt8?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: UInt16?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: UInt32?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent(_ v: UInt64?, forKey key: Key) throws { try optional(v, key) }
  mutating func encodeIfPresent<T: Encodable>(_ v: T?, forKey key: Key) throws {
    try optional(v, key)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { member(key).container(keyedBy: keyType) }
  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    member(key).unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { member(SuperKey()) }
  mutating func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// The name that a superclass's members stand under.
private struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }
  init() {}
  init?(stringValue: String) {}
  init?(intValue: Int) { nil }
}

private struct JSONArrayContainer: UnkeyedEncodingContainer {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.node.elementCount }

  private func element() -> JSONValueEncoder {
    JSONValueEncoder(node: encoder.node.element(), codingPath: encoder.codingPath)
  }

  mutating func encodeNil() { element().node.set(.null) }
  mutating func encode(_ value: some Encodable) throws { try element().encodeValue(value) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: keyType) }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    element().unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { element() }
}

private struct JSONScalarContainer: SingleValueEncodingContainer {
  let encoder: JSONValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  mutating func encodeNil() { encoder.node.set(.null) }
  // Recursion ends: a type that reaches this encodes another type than itself.
  mutating func encode(_ value: some Encodable) throws { try encoder.encodeValue(value) }
}
