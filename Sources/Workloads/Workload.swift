import TensorCore

/// Requests in the order of their arrival: what a service was asked for, without the words.
package struct Workload: Hashable, Sendable {
  /// The file or profile it comes from.
  package var name: String
  /// Requests, arrivals ascending.
  package var requests: [WorkloadRequest]
  /// Positions that a hash of `WorkloadRequest.prefixHashes` stands for; nil where none has hashes.
  package var hashPositions: Int?

  package init(name: String, requests: [WorkloadRequest], hashPositions: Int?) {
    self.name = name
    self.requests = requests
    self.hashPositions = hashPositions
  }

  /// Positions of a hash in the traces that have them.
  package static let publishedHashPositions = 512

  /// The workload of a file in one of the two published formats, told apart by its first byte.
  ///
  /// Throws with the line and the reason where one is not as the format says: ``CSVReader``,
  /// ``JSONLinesReader``.
  package init(_ bytes: [UInt8], file: String) throws(InputError) {
    name = file
    if bytes.first == UInt8(ascii: "{") {
      requests = try JSONLinesReader(bytes, file: file).requests()
      hashPositions = Self.publishedHashPositions
    } else {
      requests = try CSVReader(bytes, file: file).requests()
      hashPositions = nil
    }
    guard !requests.isEmpty else { throw InputError(file: file, reason: "no request") }
  }

  /// The same requests, arriving `factor` times as far apart: 0.5 is twice the load. Throws where a
  /// request would arrive later than ``WorkloadRequest/arrivalLimit``.
  package func scaled(byTime factor: Double) throws(InputError) -> Workload {
    precondition(factor.isFinite && factor >= 0, "a time scale is finite and not negative")
    guard factor != 1 else { return self }
    var result = self
    for index in requests.indices {
      let arrival = Double(requests[index].arrivalNanoseconds) * factor
      guard arrival <= Double(WorkloadRequest.arrivalLimit) else {
        throw InputError(
          file: name, place: "request \(index + 1)",
          reason: "it arrives \(WorkloadRequest.arrivalRule), times the scale of \(factor)")
      }
      result.requests[index].arrivalNanoseconds = Int64(arrival)
    }
    return result
  }
}

/// One request of a workload.
package struct WorkloadRequest: Hashable, Sendable {
  /// From the first request's arrival.
  package var arrivalNanoseconds: Int64
  /// Prompt positions, at least 1.
  package var inputCount: Int
  /// Response positions.
  package var outputCount: Int
  /// One number for each `Workload.hashPositions` prompt positions, the last ones perhaps fewer:
  /// equal numbers stand for equal tokens from the beginning of the prompt on. Empty where the
  /// trace has none.
  package var prefixHashes: [UInt64]

  package init(
    arrivalNanoseconds: Int64, inputCount: Int, outputCount: Int, prefixHashes: [UInt64] = []
  ) {
    self.arrivalNanoseconds = arrivalNanoseconds
    self.inputCount = inputCount
    self.outputCount = outputCount
    self.prefixHashes = prefixHashes
  }

  /// The latest arrival, in nanoseconds: sums of two fit 63 bits.
  package static let arrivalLimit = Int64.max / 2
  static let arrivalRule = "more than 146 years after the first"

  /// More positions than any model has; larger counts are taken for damage.
  static let positionLimit = 1 << 24
}
