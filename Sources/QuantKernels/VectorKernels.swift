import CKernels
import KernelContract
import Kernels
import PackedFormats

/// The float kernels of one instruction set, chosen once; each method is one kernel call.
///
/// Formulas, shapes, aliasing and tolerances stand in KernelContract. Pointers are valid for the
/// counts given, for the time of the call; nothing is allocated, nothing is kept.
@safe
package final class VectorKernels: Sendable {
  package let instructionSet: InstructionSet
  /// The names of the kernels that were chosen, for results and traces.
  package let kernelNames: [String]

  private let norm: NormFunction
  private let headNorm: HeadNormFunction
  private let gate, sum, product: ElementwiseFunction
  private let scaling: ScalingFunction
  private let normalization: SoftmaxFunction
  private let toF16, fromF16, toS8, toS16: ConversionFunction
  private let halves, adjacent: RotationFunction
  private let search: SearchFunction
  private let largest: TopKFunction
  private let panelF32, panelF16: PanelFunction
  let panelCodes: CodePanelFunction
  let softmaxBlock: BlockSoftmaxFunction
  let rowCodes: RowCodesFunction
  let nibbleRows, nibblePairs: NibbleFunction
  let cacheS8, cacheU4: CacheVectorFunction
  private let gemvF32, gemvF16, gemmF32, gemmF16: FloatProductFunction

  /// The kernels of a level that this CPU has.
  package convenience init(_ library: KernelLibrary) {
    self.init(library.instructionSet, on: library.features)
  }

  /// The most preferred kernels at a level for a CPU with those features, which have the level.
  package init(_ level: InstructionSet, on features: CPUFeatures) {
    precondition(features.isSuperset(of: level.requirements), "the CPU lacks \(level)")
    var names: [String] = []
    func choose<Function>(
      _ list: [KernelEntry<Function>], _ operation: KernelOperation, _ weights: WeightFormat? = nil
    ) -> Function {
      // Every list of the registry has a portable kernel for each of its operations; a test walks
      // them.
      guard let entry = list.selected(operation, weights, at: level, on: features) else {
        preconditionFailure("no kernel for \(operation) at \(level)")
      }
      names.append(entry.name)
      return entry.function
    }
    instructionSet = level
    unsafe norm = choose(KernelRegistry.norms, .rmsNorm)
    unsafe headNorm = choose(KernelRegistry.headNorms, .headNorm)
    unsafe gate = choose(KernelRegistry.elementwise, .swiglu)
    unsafe sum = choose(KernelRegistry.elementwise, .add)
    unsafe product = choose(KernelRegistry.elementwise, .multiply)
    unsafe scaling = choose(KernelRegistry.scalings, .scale)
    unsafe normalization = choose(KernelRegistry.softmaxes, .softmax)
    unsafe toF16 = choose(KernelRegistry.conversions, .convertToF16)
    unsafe fromF16 = choose(KernelRegistry.conversions, .convertFromF16)
    unsafe toS8 = choose(KernelRegistry.conversions, .convertToS8)
    unsafe toS16 = choose(KernelRegistry.conversions, .convertToS16)
    unsafe halves = choose(KernelRegistry.rotations, .rotateHalves)
    unsafe adjacent = choose(KernelRegistry.rotations, .rotateAdjacent)
    unsafe search = choose(KernelRegistry.searches, .argMax)
    unsafe largest = choose(KernelRegistry.topKs, .topK)
    unsafe panelF32 = choose(KernelRegistry.panels, .panelF32)
    unsafe panelF16 = choose(KernelRegistry.panels, .panelF16)
    unsafe panelCodes = choose(KernelRegistry.codePanels, .panelCodes)
    unsafe softmaxBlock = choose(KernelRegistry.blockSoftmaxes, .softmaxBlock)
    unsafe rowCodes = choose(KernelRegistry.rowCodes, .rowCodes)
    unsafe nibbleRows = choose(KernelRegistry.nibbles, .nibbleRows)
    unsafe nibblePairs = choose(KernelRegistry.nibbles, .nibblePairs)
    unsafe cacheS8 = choose(KernelRegistry.cacheVectors, .cacheS8)
    unsafe cacheU4 = choose(KernelRegistry.cacheVectors, .cacheU4)
    unsafe gemvF32 = choose(KernelRegistry.floatProducts, .gemv, .f32)
    unsafe gemvF16 = choose(KernelRegistry.floatProducts, .gemv, .f16)
    unsafe gemmF32 = choose(KernelRegistry.floatProducts, .gemm, .f32)
    unsafe gemmF16 = choose(KernelRegistry.floatProducts, .gemm, .f16)
    kernelNames = names
  }

  /// output = input · weight / √(mean(input²) + epsilon); output may be the input.
  @unsafe package func rmsNorm(
    _ input: UnsafePointer<Float>, weight: UnsafePointer<Float>, epsilon: Float,
    output: UnsafeMutablePointer<Float>, count: Int
  ) {
    var arguments = unsafe CKNorm(
      input: input, weight: weight, output: output, count: count, epsilon: epsilon)
    unsafe norm(&arguments)
  }

  /// `rmsNorm` of each head of a row in place; heads share the weight, of `dimension` floats.
  @unsafe package func rmsNorm(
    heads values: UnsafeMutablePointer<Float>, count: Int, stride: Int, dimension: Int,
    weight: UnsafePointer<Float>, epsilon: Float
  ) {
    var arguments = unsafe CKHeadNorm(
      values: values, weight: weight, headCount: count, headStride: stride, dimension: dimension,
      epsilon: epsilon)
    unsafe headNorm(&arguments)
  }

  /// output = silu(gate) · up; output may be either.
  @unsafe package func swiglu(
    gate a: UnsafePointer<Float>, up b: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, count: Int
  ) {
    var arguments = unsafe CKElementwise(a: a, b: b, output: output, count: count)
    unsafe gate(&arguments)
  }

  /// output = a + b; output may be either.
  @unsafe package func add(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, count: Int
  ) {
    var arguments = unsafe CKElementwise(a: a, b: b, output: output, count: count)
    unsafe sum(&arguments)
  }

  /// output = a · b, element by element; output may be either.
  @unsafe package func multiply(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, count: Int
  ) {
    var arguments = unsafe CKElementwise(a: a, b: b, output: output, count: count)
    unsafe product(&arguments)
  }

  /// values = values · factor.
  @unsafe package func scale(
    _ values: UnsafeMutablePointer<Float>, by factor: Float, count: Int
  ) {
    var arguments = unsafe CKScaling(values: values, count: count, factor: factor)
    unsafe scaling(&arguments)
  }

  /// values = softmax(scale · values); −infinity is masked, NaN spreads over the row.
  @unsafe package func softmax(
    _ values: UnsafeMutablePointer<Float>, count: Int, scale: Float
  ) {
    precondition(scale > 0, "the largest score must stay the largest")
    var arguments = unsafe CKScaling(values: values, count: count, factor: scale)
    unsafe normalization(&arguments)
  }

  /// f32 to f16 bits, rounded to nearest even.
  @unsafe package func convert(
    _ input: UnsafePointer<Float>, toF16 output: UnsafeMutableRawPointer, count: Int
  ) {
    var unused: Float = 0
    unsafe withUnsafeMutablePointer(to: &unused) { scale in
      var arguments = unsafe CKConversion(
        input: input, output: output, scale: scale, count: count)
      unsafe toF16(&arguments)
    }
  }

  /// f16 bits to f32, exactly.
  @unsafe package func convert(
    fromF16 input: UnsafeRawPointer, to output: UnsafeMutablePointer<Float>, count: Int
  ) {
    var unused: Float = 0
    unsafe withUnsafeMutablePointer(to: &unused) { scale in
      var arguments = unsafe CKConversion(
        input: input, output: output, scale: scale, count: count)
      unsafe fromF16(&arguments)
    }
  }

  /// One vector as int8 codes −127…127 with one scale: value ≈ code · scale. Returns the scale,
  /// NaN where the vector has a NaN or an infinity.
  @unsafe package func quantize(
    _ input: UnsafePointer<Float>, toS8 output: UnsafeMutablePointer<Int8>, count: Int
  ) -> Float {
    var scale: Float = 0
    unsafe withUnsafeMutablePointer(to: &scale) { scale in
      var arguments = unsafe CKConversion(
        input: input, output: UnsafeMutableRawPointer(output), scale: scale, count: count)
      unsafe toS8(&arguments)
    }
    return scale
  }

  /// The same with 16-bit codes −32767…32767.
  @unsafe package func quantize(
    _ input: UnsafePointer<Float>, toS16 output: UnsafeMutablePointer<Int16>, count: Int
  ) -> Float {
    var scale: Float = 0
    unsafe withUnsafeMutablePointer(to: &scale) { scale in
      var arguments = unsafe CKConversion(
        input: input, output: UnsafeMutableRawPointer(output), scale: scale, count: count)
      unsafe toS16(&arguments)
    }
    return scale
  }

  /// Rotates heads in place by one position's angles, `pairCount` cosines and sines.
  @unsafe package func rope(
    _ values: UnsafeMutablePointer<Float>, cosines: UnsafePointer<Float>,
    sines: UnsafePointer<Float>, pairCount: Int, headCount: Int, headStride: Int,
    pairing: RotaryPairing
  ) {
    var arguments = unsafe CKRotation(
      values: values, cosines: cosines, sines: sines, headCount: headCount,
      headStride: headStride, pairCount: pairCount)
    switch pairing {
    case .halves: unsafe halves(&arguments)
    case .adjacent: unsafe adjacent(&arguments)
    }
  }

  /// The index of the largest value, the first of equals; nil where any is NaN.
  @unsafe package func argMax(_ values: UnsafePointer<Float>, count: Int) -> Int? {
    var index = -1
    unsafe withUnsafeMutablePointer(to: &index) { index in
      var arguments = unsafe CKSearch(values: values, count: count, index: index)
      unsafe search(&arguments)
    }
    return index < 0 ? nil : index
  }

  /// The places of the k largest values, largest first, smaller places first among equals, into
  /// `indices`; false where any value is NaN, and then they mean nothing. `keys` is room for k.
  @unsafe package func topK(
    _ values: UnsafePointer<Float>, count: Int, k: Int, keys: UnsafeMutablePointer<UInt64>,
    indices: UnsafeMutablePointer<Int32>
  ) -> Bool {
    precondition(k >= 1 && k <= count && count < 1 << 31, "1...count of at most 2^31 - 1 values")
    var found = 0
    unsafe withUnsafeMutablePointer(to: &found) { found in
      var arguments = unsafe CKTopK(
        values: values, keys: keys, indices: indices, count: count, k: k, found: found)
      unsafe largest(&arguments)
    }
    return found >= 0
  }

  /// C = A · B, or C = f · C + A · B with a factor a row; row-major, strides in elements, B of the
  /// panel's element type.
  @unsafe package func panelProduct(
    a: UnsafePointer<Float>, aStride: Int, b: UnsafeRawPointer, bStride: Int,
    of element: PanelElement, c: UnsafeMutablePointer<Float>, cStride: Int,
    rows: Int, columns: Int, depth: Int, rowFactors: UnsafePointer<Float>? = nil
  ) {
    var arguments = unsafe CKPanel(
      a: a, b: b, c: c, aStride: aStride, bStride: bStride, cStride: cStride,
      rowCount: rows, columnCount: columns, depth: depth, rowFactors: rowFactors)
    switch element {
    case .f32: unsafe panelF32(&arguments)
    case .f16: unsafe panelF16(&arguments)
    }
  }

  /// output[t][r] = weights[r] · activations[t] for the rows given; row-major, strides in elements.
  @unsafe package func floatProduct(
    weights: UnsafeRawPointer, of element: FloatWeight, weightStride: Int, rows: Range<Int>,
    columns: Int, activations: UnsafePointer<Float>, activationStride: Int, tokens: Int,
    output: UnsafeMutablePointer<Float>, outputStride: Int
  ) {
    var arguments = unsafe CKFloatProduct(
      weights: weights, activations: activations, output: output,
      weightStride: weightStride, activationStride: activationStride, outputStride: outputStride,
      columnCount: columns, tokenCount: tokens, rowBegin: rows.lowerBound, rowEnd: rows.upperBound)
    switch element {
    case .f32: unsafe tokens > 1 ? gemmF32(&arguments) : gemvF32(&arguments)
    case .f16: unsafe tokens > 1 ? gemmF16(&arguments) : gemvF16(&arguments)
    }
  }
}

/// Which floats of a head rotate together.
package enum RotaryPairing: Hashable, Sendable {
  /// Float i and float i + pairCount.
  case halves
  /// Floats 2i and 2i + 1.
  case adjacent
}

/// The element type of a panel's right side.
package enum PanelElement: Hashable, Sendable, CaseIterable { case f32, f16 }

/// The element type of a float product's weights.
package enum FloatWeight: Hashable, Sendable, CaseIterable { case f32, f16 }
