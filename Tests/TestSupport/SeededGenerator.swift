import RandomNumbers

/// The generator of tests: the same numbers from the same seed on every machine.
package typealias SeededGenerator = SplitMix64
