import CKernels

// The one pointer is that of the kernel's caller, under the contract.

@inline(never)
func rmsNormPortable(_ arguments: UnsafePointer<CKNorm>) {
  unsafe rmsNormBody(PortableFloats.self, arguments)
}

@inline(never)
func headNormPortable(_ arguments: UnsafePointer<CKHeadNorm>) {
  unsafe headNormBody(PortableFloats.self, arguments)
}

@inline(never)
func topKPortable(_ arguments: UnsafePointer<CKTopK>) {
  unsafe topKBody(PortableFloats.self, arguments)
}

@inline(never)
func swigluPortable(_ arguments: UnsafePointer<CKElementwise>) {
  unsafe elementwiseBody(PortableFloats.self, GatedProduct.self, arguments)
}

@inline(never)
func addPortable(_ arguments: UnsafePointer<CKElementwise>) {
  unsafe elementwiseBody(PortableFloats.self, Addition.self, arguments)
}

@inline(never)
func multiplyPortable(_ arguments: UnsafePointer<CKElementwise>) {
  unsafe elementwiseBody(PortableFloats.self, Multiplication.self, arguments)
}

@inline(never)
func scalePortable(_ arguments: UnsafePointer<CKScaling>) {
  unsafe scaleBody(PortableFloats.self, arguments)
}

@inline(never)
func softmaxPortable(_ arguments: UnsafePointer<CKScaling>) {
  unsafe softmaxBody(PortableFloats.self, arguments)
}

@inline(never)
func toF16Portable(_ arguments: UnsafePointer<CKConversion>) {
  unsafe toF16Body(PortableFloats.self, arguments)
}

@inline(never)
func fromF16Portable(_ arguments: UnsafePointer<CKConversion>) {
  unsafe fromF16Body(PortableFloats.self, arguments)
}

@inline(never)
func toS8Portable(_ arguments: UnsafePointer<CKConversion>) {
  unsafe toCodesBody(PortableFloats.self, S8Code.self, arguments)
}

@inline(never)
func toS16Portable(_ arguments: UnsafePointer<CKConversion>) {
  unsafe toCodesBody(PortableFloats.self, S16Code.self, arguments)
}

@inline(never)
func rotateHalvesPortable(_ arguments: UnsafePointer<CKRotation>) {
  unsafe rotateHalvesBody(PortableFloats.self, arguments)
}

@inline(never)
func rotateAdjacentPortable(_ arguments: UnsafePointer<CKRotation>) {
  unsafe rotateAdjacentBody(PortableFloats.self, arguments)
}

@inline(never)
func argMaxPortable(_ arguments: UnsafePointer<CKSearch>) {
  unsafe argMaxBody(PortableFloats.self, arguments)
}
