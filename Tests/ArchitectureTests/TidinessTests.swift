import Foundation
import Testing

/// Rules of the code that a machine can check.
@Suite struct TidinessTests {
  @Test func noTargetUsesUnsafeFlags() throws {
    #expect(try !PackageSource().manifest.contains("unsafeFlags"))
  }

  @Test func filesAreShort() throws {
    for file in try PackageSource().files {
      #expect(file.lines.count <= 600, "\(file.path) has \(file.lines.count) lines")
    }
  }

  @Test func nothingIsLeftToDo() throws {
    for file in try PackageSource().files {
      #expect(!file.text.contains(/\b(?:TODO|FIXME|XXX)\b/), "\(file.path)")
    }
  }

  @Test func everyTargetIsStrictAboutMemory() throws {
    let source = try PackageSource()
    for name in ["module", "tests"] {
      let pattern = try Regex("func \(name)\\([\\s\\S]*?swiftSettings: strict")
      #expect(source.manifest.contains(pattern))
    }
    #expect(source.manifest.contains(".strictMemorySafety()"))
    // Swift targets that are not made by those functions say it themselves.
    let executables = source.manifest.matches(
      of: /\.executableTarget\([\s\S]*?swiftSettings: strict/)
    #expect(
      executables.count == source.manifest.matches(of: /\.executableTarget\(/).count)
  }
}
