import BenchCore
import KernelBench
import KernelContract
import PackedFormats

/// The command line of `kernels`, understood.
struct KernelPlan {
  var cases: [KernelCase]
  var threadCounts: [Int?]
  var shapes: [ProductShape]
  var places: [KernelCase.Place]
  /// Nil for all.
  var formats: [WeightFormat]?

  init(_ command: KernelsCommand) throws {
    let operations = try command.op.map { try Self.operations($0) }
    let formats = try command.weights.map { try Self.formats($0) }
    let shapes = try CommaList.items(command.shape).map(Self.shape)
    self.formats = formats
    self.shapes = shapes
    places = try CommaList.items(command.places).map { name in
      guard let place = KernelCase.Place(rawValue: name) else {
        throw Self.failure("--in", name, "known are cache and memory")
      }
      return place
    }
    let tokenCounts: [Int]
    do throws(RunPlanError) {
      tokenCounts = try NumberList.parse(
        CommaList.normalized(command.tokens), option: "--tokens", minimum: 1)
      threadCounts =
        try CommaList.joined(command.threads).map { text throws(RunPlanError) in
          try NumberList.parse(text, option: "-t", minimum: 1).map { $0 }
        } ?? [nil]
    } catch {
      throw CommandFailure(.usage, error.description)
    }
    for (option, values, limit) in [
      ("--tokens", tokenCounts, 1 << 14), ("-t", threadCounts.compactMap { $0 }, Limits.threads),
    ] {
      if let largest = values.max(), largest > limit {
        throw Self.failure(option, String(largest), "at most \(limit)")
      }
    }
    cases = []
    for place in places {
      for shape in shapes {
        for tokens in tokenCounts {
          for operation in operations ?? [tokens == 1 ? .gemv : .gemm] {
            let known = KernelCase.formats(of: operation)
            for format in known
            where format == nil || formats?.contains(where: { $0 == format }) ?? true {
              cases.append(
                KernelCase(
                  operation: operation, weights: format, rows: format == nil ? 1 : shape.rows,
                  columns: shape.columns, tokens: tokens, place: place))
            }
          }
        }
      }
    }
    // Vectors have no rows: shapes of the same columns are one case.
    var seen: Set<KernelCase> = []
    cases = cases.filter { seen.insert($0).inserted }
    guard !cases.isEmpty else {
      throw CommandFailure(.usage, "nothing to measure: no such operation has these formats")
    }
  }

  private static func operations(_ text: String) throws -> [KernelOperation] {
    try CommaList.items(text).map { name in
      guard let operation = KernelOperation(rawValue: name),
        KernelCase.operations.contains(operation)
      else {
        let known = KernelCase.operations.map(\.rawValue).joined(separator: ", ")
        throw failure("--op", name, "known are \(known)")
      }
      return operation
    }
  }

  private static func formats(_ text: String) throws -> [WeightFormat] {
    let known = KernelCase.formats(of: .gemv).compactMap { $0 }
    return try CommaList.items(text).map { name in
      guard let format = FormatArgument(argument: name)?.format, known.contains(format) else {
        let hint = LlamaCppFormat.hint(for: name).map { "; \($0)" } ?? ""
        throw failure(
          "--weights", name,
          "there are kernels for \(known.map(\.name).joined(separator: ", "))\(hint)")
      }
      return format
    }
  }

  private static func shape(_ text: String) throws -> ProductShape {
    guard let shape = ProductShape(text) else { throw failure("--shape", text, ProductShape.rule) }
    return shape
  }

  private static func failure(_ option: String, _ text: String, _ reason: String) -> CommandFailure
  {
    CommandFailure(.usage, "\(option) '\(text)': \(reason)")
  }
}
