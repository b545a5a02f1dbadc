import ArgumentParser

/// How planes lie in a file that is written.
enum FileLayout: String, CaseIterable, ExpressibleByArgument {
  /// As formats define them, compressed.
  case canonical
  /// As kernels read them, uncompressed, to be mapped.
  case kernel
}
