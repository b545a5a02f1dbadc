/// One configuration's measurements as a file of results holds them.
package struct MeasuredRow: Sendable {
  /// What was measured, as people call it: `pp512`, `chat turn 2 deep`, a command.
  package var test: String
  /// The fields that say what was run and how, by name.
  package var fields: [String: String]
  package var metrics: [Metric]
  /// Why its numbers must not be compared; nil where they may.
  package var refusal: String?

  /// One quantity with a value for each repetition.
  package struct Metric: Sendable {
    package var name: String
    package var unit: String
    package var lowerIsBetter: Bool
    package var samples: [Double]

    package init(name: String, unit: String, lowerIsBetter: Bool = true, samples: [Double]) {
      self.name = name
      self.unit = unit
      self.lowerIsBetter = lowerIsBetter
      self.samples = samples
    }
  }

  package init(
    test: String, fields: [String: String], metrics: [Metric], refusal: String? = nil
  ) {
    self.test = test
    self.fields = fields
    self.metrics = metrics
    self.refusal = refusal
  }
}

/// The rows of one file or bundle.
package struct Measurements: Sendable {
  /// The path as the user named it.
  package var path: String
  package var rows: [MeasuredRow]
  /// The fields that say what was asked for: rows that differ in one are different tests.
  package var workloadFields: [String]
  /// The fields that say what did it: a comparison may be between two of their values.
  package var subjectFields: [String]
  /// The fields that both sides must share for their times to mean the same.
  package var settingFields: [String]

  package init(
    path: String, rows: [MeasuredRow], workloadFields: [String], subjectFields: [String],
    settingFields: [String] = []
  ) {
    self.path = path
    self.rows = rows
    self.workloadFields = workloadFields
    self.subjectFields = subjectFields
    self.settingFields = settingFields
  }
}
