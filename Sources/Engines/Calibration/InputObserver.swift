/// Sees the rows that linear layers are about to read.
protocol InputObserver: AnyObject {
  /// `rows` holds `tokens` × `columns` elements and is valid for the call; `layers` all read them.
  @unsafe func observe(
    _ rows: UnsafePointer<Float>, tokens: Int, columns: Int, layers: [Linear])
}

/// A session whose linear layers can be watched.
protocol ObservableSession: AnyObject {
  /// Called before every group of linear layers; nil, as at first, costs one comparison.
  var inputObserver: (any InputObserver)? { get set }
}
