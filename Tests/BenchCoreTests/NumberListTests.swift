import BenchCore
import Testing

@Suite struct NumberListTests {
  @Test(arguments: [
    ("512", [512]),
    ("128,256,512", [128, 256, 512]),
    ("1-4", [1, 2, 3, 4]),
    ("0-512+128", [0, 128, 256, 384, 512]),
    ("100-500+150", [100, 250, 400]),
    ("128-1024*2", [128, 256, 512, 1024]),
    ("1,8-16+4,2-20*3", [1, 8, 12, 16, 2, 6, 18]),
    ("7-7", [7]),
    ("9223372036854775806-9223372036854775807+2", [9_223_372_036_854_775_806]),
    ("4611686018427387904-9223372036854775807*2", [4_611_686_018_427_387_904]),
  ])
  func lists(text: String, values: [Int]) throws {
    #expect(try NumberList.parse(text, option: "-p") == values)
  }

  @Test(arguments: [
    ("", "-p '': a number is missing"),
    ("1,", "-p '': a number is missing"),
    ("1,,2", "-p '': a number is missing"),
    ("-5", "-p '-5': a number is missing"),
    ("12x", "-p '12x': not a number"),
    ("+3", "-p '+3': not a number"),
    ("1 ,2", "-p '1 ': not a number"),
    ("1-", "-p '1-': a number is missing"),
    ("1-2+", "-p '1-2+': a number is missing"),
    ("1-9+2+3", "-p '1-9+2+3': not a number"),
    ("9-1", "-p '9-1': the range ends before it begins"),
    ("1-9+0", "-p '1-9+0': the range does not advance"),
    ("1-9*1", "-p '1-9*1': the range does not advance"),
    ("0-9*2", "-p '0-9*2': the range does not advance"),
    ("0-10000", "-p '0-10000': more than 10000 values"),
    ("9223372036854775808", "-p '9223372036854775808': the number is too large"),
    ("１２", "-p '１２': not a number"),
  ])
  func mistakes(text: String, message: String) {
    let error = #expect(throws: RunPlanError.self) {
      try NumberList.parse(text, option: "-p")
    }
    #expect(error?.description == message)
  }

  @Test func minimum() {
    let error = #expect(throws: RunPlanError.self) {
      try NumberList.parse("4,0", option: "-t", minimum: 1)
    }
    #expect(error?.description == "-t '4,0': 0 is below 1")
  }

  @Test func pairs() throws {
    let pair = try NumberList.parsePair("64,32", option: "-pg")
    #expect(pair == (64, 32))
    for text in ["", "64", "64,", "64,32,1", "0,5", "5,0", "a,b", "64, 32"] {
      #expect(throws: RunPlanError.self, "\(text)") {
        try NumberList.parsePair(text, option: "-pg")
      }
    }
  }

  @Test func testsAreOrderedAsLlamaBenchOrdersThem() {
    let tests = MeasuredTest.all(
      prompts: [512, 0], generations: [128], pairs: [(prompt: 64, generated: 32)], depths: [0, 256])
    #expect(
      tests.map { "\($0.name) \($0.depth)" } == [
        "pp512 0", "tg128 0", "pp64+tg32 0", "pp512 256", "tg128 256", "pp64+tg32 256",
      ])
    #expect(tests.prefix(3).map(\.phase) == [.prefill, .decode, .both])
  }
}
