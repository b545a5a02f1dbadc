import CKernels

// The one pointer is that of the kernel's caller, under the contract.

@inline(never)
func panelF32Portable(_ arguments: UnsafePointer<CKPanel>) {
  unsafe panelBody(PortableFloats.self, F32Element.self, arguments)
}

@inline(never)
func panelF16Portable(_ arguments: UnsafePointer<CKPanel>) {
  unsafe panelBody(PortableFloats.self, F16Element.self, arguments)
}

@inline(never)
func gemvF32Portable(_ arguments: UnsafePointer<CKFloatProduct>) {
  unsafe floatProductBody(PortableFloats.self, F32Element.self, arguments, rows: 2, tokens: 1)
}

@inline(never)
func gemvF16Portable(_ arguments: UnsafePointer<CKFloatProduct>) {
  unsafe floatProductBody(PortableFloats.self, F16Element.self, arguments, rows: 2, tokens: 1)
}

@inline(never)
func gemmF32Portable(_ arguments: UnsafePointer<CKFloatProduct>) {
  unsafe floatProductBody(PortableFloats.self, F32Element.self, arguments, rows: 2, tokens: 2)
}

@inline(never)
func gemmF16Portable(_ arguments: UnsafePointer<CKFloatProduct>) {
  unsafe floatProductBody(PortableFloats.self, F16Element.self, arguments, rows: 2, tokens: 2)
}
