import PackedFormats
import Synchronization
import TensorCore

extension ModelPacker {
  /// Elements that one thread surveys at a time.
  private static let surveyElementCount = 1 << 20

  /// The one scale of a per-tensor format, from a first pass over all rows.
  func tensorScale(of plan: TensorPlan) throws(PackError) -> Float {
    let shape = plan.tensor.shape
    let rowCount = max(1, Self.surveyElementCount / shape.columnCount)
    let starts = Array(stride(from: 0, to: shape.rowCount, by: rowCount))
    var whole = TensorSurvey(options: plan.options)
    // A few at a time: a survey takes half a mebibyte.
    do throws(InputError) {
      for batch in stride(from: 0, to: starts.count, by: threads * 4) {
        let numbers = batch..<min(batch + threads * 4, starts.count)
        let surveys = Mutex<[Int: TensorSurvey]>([:])
        try WorkerGroup.forEach(numbers.count, threads: threads, context: { () }) {
          _, number throws(InputError) in
          let start = starts[numbers.lowerBound + number]
          let rows = start..<min(start + rowCount, shape.rowCount)
          let survey = try TensorSurvey(rows: rows, of: plan)
          surveys.withLock { $0[number] = survey }
        }
        // In the order of the rows, so that the sums do not depend on threads.
        for number in 0..<numbers.count {
          guard let survey = surveys.withLock({ $0.removeValue(forKey: number) }) else {
            preconditionFailure("every piece was surveyed")
          }
          whole.merge(survey)
        }
      }
      do {
        return try whole.tensorScale(for: plan.format)
      } catch {
        throw InputError(place: "tensor \(plan.tensor.name)", reason: error.description)
      }
    } catch {
      throw .input(error)
    }
  }
}

extension TensorSurvey {
  /// A survey of some rows as they are to be quantized.
  fileprivate init(rows: Range<Int>, of plan: TensorPlan) throws(InputError) {
    self.init(options: plan.options)
    let (values, residual) = try plan.read(rows)
    let weights = residual ?? values
    do {
      try add(
        weights.span, columnCount: plan.tensor.shape.columnCount,
        firstRow: rows.lowerBound)
    } catch {
      throw InputError(place: "tensor \(plan.tensor.name)", reason: error.description)
    }
  }
}
