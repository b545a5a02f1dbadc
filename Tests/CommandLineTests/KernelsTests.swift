import Foundation
import TestSupport
import Testing

/// `kernels` and `roof`: what is printed, not how fast anything is.
@Suite struct KernelsTests {
  private struct Rows: Decodable {
    struct Row: Decodable {
      var kernel: String
      var op: String
      var weights: String?
      var rows: Int
      var columns: Int
      var tokens: Int
      var threads: Int
      var isa: String
      var `in`: String
      var seconds_median: Double
      var gb_per_s: Double
      var gop_per_s: Double?
      var roof_gb_per_s: Double
      var share_of_roof: Double
    }
    var rows: [Row]
  }

  private func measure(_ arguments: String) throws -> [Rows.Row] {
    let words = arguments.split(separator: " ").map(String.init)
    let result = try Program.run(["kernels", "-r", "1", "--json"] + words)
    #expect(result.status == 0, "\(result)")
    return try JSONDecoder().decode(Rows.self, from: result.output).rows
  }

  @Test func everyFormatAndOperationIsMeasured() throws {
    let rows = try measure("--shape 48x100 --tokens 1,3 --in cache -t 1")
    let formats = Set(rows.filter { $0.op == "gemv" }.compactMap(\.weights))
    #expect(formats.isSuperset(of: ["u2t", "u2c", "u2g64", "u4c", "u4g32", "s8c", "f16", "f32"]))
    #expect(Set(rows.filter { $0.op == "gemm" }.compactMap(\.weights)) == formats)
    for row in rows {
      #expect(row.rows == 48 && row.columns == 100 && row.tokens == (row.op == "gemv" ? 1 : 3))
      #expect(row.threads == 1 && row.in == "cache" && row.kernel.hasPrefix(row.op))
      #expect(row.seconds_median > 0 && row.gb_per_s > 0 && row.roof_gb_per_s > 0)
      #expect(row.share_of_roof > 0)
      // The rates are those of the median: two operations a weight and token.
      let operations = try #require(row.gop_per_s) * row.seconds_median * 1e9
      #expect(abs(operations / Double(2 * 48 * 100 * row.tokens) - 1) < 1e-9)
    }
    let vectors = "quantize_s8t,quantize_s8g64,rmsnorm,swiglu,add,multiply,scale,softmax,argmax"
    let found = try measure("--op \(vectors) --shape 1x500 --tokens 2 --in cache -t 1")
    #expect(found.map(\.op).sorted() == vectors.split(separator: ",").map(String.init).sorted())
    #expect(found.allSatisfy { $0.weights == nil && $0.rows == 1 && $0.gop_per_s == nil })
  }

  @Test func theLevelCanBeForced() throws {
    let rows = try measure("--isa portable --weights u2c --shape 16x64 --tokens 1 --in cache")
    #expect(rows.map(\.kernel) == ["gemv_f32_s8t_u2c_r16_portable"])
    #expect(rows.map(\.isa) == ["portable"])
  }

  @Test func theListSaysWhatIsChosen() throws {
    struct List: Decodable {
      struct Row: Decodable {
        var kernel: String
        var isa: String
        var available: Bool
        var selected: Bool
      }
      var rows: [Row]
    }
    let result = try Program.run(["kernels", "--list", "--isa", "portable", "--json"])
    #expect(result.status == 0, "\(result)")
    let rows = try JSONDecoder().decode(List.self, from: result.output).rows
    #expect(Set(rows.map(\.kernel)).count == rows.count)
    #expect(rows.filter(\.selected).allSatisfy { $0.isa == "portable" && $0.available })
    #expect(rows.contains { $0.kernel == "gemv_f32_s8t_u2c_r16_portable" && $0.selected })
  }

  /// What does not run here has its reason, and what a kernel is compiled for is its row's.
  @Test func aKernelThatDoesNotRunHasItsReason() throws {
    struct List: Decodable {
      struct Row: Decodable {
        var kernel: String
        var requires: [String]
        var missing: [String]
        var available: Bool
      }
      var rows: [Row]
    }
    let result = try Program.run(["kernels", "--list", "--json"])
    let rows = try JSONDecoder().decode(List.self, from: result.output).rows
    #expect(rows.allSatisfy { $0.available == $0.missing.isEmpty })
    #expect(rows.allSatisfy { Set($0.requires).isSuperset(of: $0.missing) })
    let text = try Program.run(["kernels", "--list"]).outputText
    for row in rows {
      let line = try #require(text.split(separator: "\n").first { $0.contains(" \(row.kernel) ") })
      #expect(line.contains("needs") == !row.available, "\(line)")
    }
    // At any level ASTC may run kernels of a lower one.
    let measured = try measure("--weights astc6x6-ldr,s8c --shape 48x72 --tokens 1 --in cache -t 1")
    #expect(measured.allSatisfy { $0.kernel.hasSuffix("_\($0.isa)") })
  }

  @Test func tablesFitAScreen() throws {
    for line in [
      "kernels --shape 4096x2048,48x100 --tokens 1,128 --in cache -t 1 -r 6 --weights astc6x6-ldr",
      "kernels --op rmsnorm,swiglu --shape 1x500 -t 1 -r 1",
      "kernels --list", "roof -t 1 -r 1",
      "kernels --tune --weights u2c --shape 48x128 --in cache -t 1 -r 1",
    ] {
      let result = try Program.run(line.split(separator: " ").map(String.init))
      #expect(result.status == 0, "\(result)")
      for row in result.outputText.split(separator: "\n") where row.hasPrefix("|") {
        #expect(row.count <= 112, "\(row)")
      }
    }
    // More threads than cores are measured as asked for.
    let rows = try measure("--weights u2c --shape 16x64 --tokens 1 --in cache -t 1,9")
    #expect(rows.map(\.threads) == [1, 9])
  }

  @Test func tuningPrintsATableThatCanBeUsed() throws {
    struct Choice: Decodable {
      struct Row: Decodable {
        var weights: String
        var tokens: Int
        var ratio: Double
      }
      var isa: String
      var rows: [Row]
      var gemm_tokens: String
    }
    let words = "kernels --tune --weights u2c --shape 48x128 --in cache -t 1 -r 1"
    let arguments = words.split(separator: " ").map(String.init)
    let result = try Program.run(arguments + ["--json"])
    #expect(result.status == 0, "\(result)")
    let choice = try JSONDecoder().decode(Choice.self, from: result.output)
    #expect(choice.rows.allSatisfy { $0.weights == "u2c" && $0.ratio > 0 })
    #expect(choice.rows.first?.tokens == 2 && choice.rows.count > 5)
    // Its own output is accepted; what is no table is not.
    for (value, status) in [(choice.gemm_tokens, 0), ("u2c=0", 2)] as [(String, Int32)] {
      let again = try Program.run(arguments, environment: ["AFM_GEMM_TOKENS": value])
      #expect(again.status == status, "\(again)")
      #expect(again.outputText.contains("AFM_GEMM_TOKENS=s8c=") == (status == 0))
      #expect(again.error.contains("u2c=0") == (status != 0))
    }
  }

  @Test(arguments: [
    "--tune --op gemv", "--tune --list",
    "--op nothing", "--weights u3c", "--shape 4y4", "--shape 0x4", "--shape 1048576x131072",
    "--tokens 0", "--in disk", "-t 0", "--op rmsnorm --tokens 99999",
  ])
  func whatCannotBeMeasuredIsRefused(_ arguments: String) throws {
    let result = try Program.run(["kernels"] + arguments.split(separator: " ").map(String.init))
    #expect(result.status == 2, "\(result)")
    let option = try #require(arguments.split(separator: " ").first { $0.hasPrefix("-") })
    #expect(result.error.contains(option) || arguments.contains("99999"), "\(result)")
  }

  @Test func theRoofHasAllPlaces() throws {
    struct Roof: Decodable {
      struct Row: Decodable {
        var what: String
        var threads: Int
        var unit: String
        var median: Double
        var best: Double
      }
      var instruction_sets: [String]
      var rows: [Row]
    }
    let result = try Program.run(["roof", "-t", "1", "-r", "2", "--json"])
    #expect(result.status == 0, "\(result)")
    let roof = try JSONDecoder().decode(Roof.self, from: result.output)
    #expect(roof.instruction_sets.first == "portable")
    #expect(roof.rows.contains { $0.what == "memory read" && $0.unit == "GB/s" })
    #expect(
      roof.rows.contains { $0.what == "int8" } == (roof.instruction_sets.count > 1))
    #expect(roof.rows.allSatisfy { $0.threads == 1 && $0.median > 0 && $0.best >= $0.median })
  }
}
