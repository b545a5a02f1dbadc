import CKernels

// The one pointer is that of the kernel's caller, under the contract.

@inline(never)
func blockSoftmaxPortable(_ arguments: UnsafePointer<CKBlockSoftmax>) {
  unsafe blockSoftmaxBody(PortableFloats.self, arguments)
}

@inline(never)
func rowCodesPortable(_ arguments: UnsafePointer<CKRowCodes>) {
  unsafe rowCodesBody(PortableFloats.self, arguments)
}

@inline(never)
func nibbleRowsPortable(_ arguments: UnsafePointer<CKNibbles>) {
  unsafe nibbleRowsBody(Portable.self, arguments)
}

@inline(never)
func nibblePairsPortable(_ arguments: UnsafePointer<CKNibbles>) {
  unsafe nibblePairsBody(Portable.self, arguments)
}

@inline(never)
func cacheS8Portable(_ arguments: UnsafePointer<CKCacheVector>) {
  unsafe cacheS8Body(PortableFloats.self, arguments)
}

@inline(never)
func cacheU4Portable(_ arguments: UnsafePointer<CKCacheVector>) {
  unsafe cacheU4Body(PortableFloats.self, arguments)
}
