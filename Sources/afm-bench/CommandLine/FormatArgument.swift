import ArgumentParser
import PackedFormats

/// A weight format on the command line, by its name here or in llama.cpp.
///
/// A type of its own, since the parser shows the defaults of an enumeration as its raw values.
struct FormatArgument: ExpressibleByArgument {
  let format: WeightFormat

  init(_ format: WeightFormat) { self.format = format }

  init?(argument: String) {
    guard let format = WeightFormat(name: argument) ?? LlamaCppFormat.weights(argument) else {
      return nil
    }
    self.format = format
  }

  var defaultValueDescription: String { format.name }

  static var allValueStrings: [String] { WeightFormat.allCases.map(\.name) }
}
