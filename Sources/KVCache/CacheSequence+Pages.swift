extension CacheSequence {
  /// The keys, values and scales of one head of one store in one page of the sequence.
  ///
  /// Pointers into the pool: valid while the sequence holds the page, and no longer than its next
  /// `reserve`, `advance` or `truncate`. <doc:PageLayout> says what is where.
  @unsafe package struct HeadPage {
    /// [headDimension][pagePositions] in the key element; 8-bit codes
    /// [⌈headDimension / 2⌉][pagePositions][2]; 4-bit codes [headDimension / 2][pagePositions] bytes.
    package let keys: UnsafeMutableRawPointer
    /// [pagePositions][headDimension] in the value element; 8-bit codes
    /// [⌈pagePositions / 2⌉][headDimension][2]; 4-bit codes [pagePositions][headDimension / 2] bytes.
    package let values: UnsafeMutableRawPointer
    /// Where key scales begin, if the element has any in its page.
    package let keyScalePlane: UnsafeMutableRawPointer
    /// Where value scales begin, if the element has any in its page.
    package let valueScalePlane: UnsafeMutableRawPointer
    let keyElement: CacheElement
    let valueElement: CacheElement

    /// [pagePositions], or nil where keys have no `s8` scales.
    @inline(__always)
    package var keyScales: UnsafeMutablePointer<Float>? {
      unsafe keyElement == .s8 ? keyScalePlane.assumingMemoryBound(to: Float.self) : nil
    }

    /// [pagePositions], or nil where values have no `s8` scales.
    @inline(__always)
    package var valueScales: UnsafeMutablePointer<Float>? {
      unsafe valueElement == .s8 ? valueScalePlane.assumingMemoryBound(to: Float.self) : nil
    }

    /// [group][pagePositions] binary16 scales, then as many minimums, or nil where keys have none.
    @inline(__always)
    package var keyGroupScales: UnsafeMutablePointer<Float16>? {
      unsafe keyElement == .u4g32 ? keyScalePlane.assumingMemoryBound(to: Float16.self) : nil
    }

    /// [group][pagePositions] binary16 scales, then as many minimums, or nil where there are none.
    @inline(__always)
    package var valueGroupScales: UnsafeMutablePointer<Float16>? {
      unsafe valueElement == .u4g32 ? valueScalePlane.assumingMemoryBound(to: Float16.self) : nil
    }
  }

  /// The place of a head of a store in the `index`-th page of this sequence, which a window has not
  /// passed.
  @inline(__always)
  @unsafe package func headPage(
    group: Int = 0, store: Int, head: Int, page index: Int
  ) -> HeadPage {
    let page = table.page(index, group: group)
    precondition(page >= 0, "a page that the window has passed")
    // The sequence holds the page.
    return unsafe Self.headPage(
      in: pool.address(ofPage: page, group: group), geometry: layout.groups[group].geometry,
      store: store, head: head)
  }

  /// The place of a head of a store in a page that begins at `page`.
  @inline(__always)
  @unsafe package static func headPage(
    in page: UnsafeMutableRawPointer, geometry: CacheGeometry, store: Int, head: Int
  ) -> HeadPage {
    precondition(
      store >= 0 && store < geometry.storeCount && head >= 0 && head < geometry.headCount,
      "outside the cache geometry")
    // The offsets stay inside one page.
    let keys = unsafe page + geometry.headOffset(store: store, head: head)
    let values = unsafe keys + geometry.keyPanelByteCount
    let scales = unsafe values + geometry.valuePanelByteCount
    return unsafe HeadPage(
      keys: keys, values: values, keyScalePlane: scales,
      valueScalePlane: scales + geometry.keyScaleByteCount,
      keyElement: geometry.keyElement, valueElement: geometry.valueElement)
  }

  /// The first page of a group that is held: pages before it were passed by the window.
  package func firstPage(group: Int) -> Int { table.first(group: group) }

  /// The pages of a group for kernels that walk them by themselves.
  @unsafe package func pageTable(group: Int) -> PageTable {
    // The table and the arena live as long as the sequence.
    unsafe PageTable(
      baseAddress: pool.address(ofPage: 0, group: group), pages: table.pages(group: group),
      firstPage: table.first(group: group), pageCount: pageCount,
      pageByteCount: layout.groups[group].geometry.pageByteCount)
  }

  /// A group's pages of one sequence: valid no longer than its next `reserve`, `advance` or
  /// `truncate`.
  @unsafe package struct PageTable {
    /// Page 0 of the group.
    package let baseAddress: UnsafeMutableRawPointer
    /// [pageCount], the page's index in the group; −1 before `firstPage`.
    package let pages: UnsafePointer<Int32>
    /// The first entry that is a page.
    package let firstPage: Int
    package let pageCount: Int
    package let pageByteCount: Int

    /// The first byte of a page of the sequence.
    @inline(__always)
    package func address(_ index: Int) -> UnsafeMutableRawPointer {
      // The caller stays inside firstPage..<pageCount.
      unsafe baseAddress + Int(pages[index]) * pageByteCount
    }
  }
}
