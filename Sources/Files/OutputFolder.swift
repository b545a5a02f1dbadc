import CProcess
import Glibc

/// A folder of output files that appears whole, at `commit`, or not at all.
///
/// The files are written into `.NAME.PID.N.partial` beside the destination, which then takes the
/// destination's place in one step. It is removed when this value goes away without a commit, and
/// when a signal ends a program that has installed `cpr_install`'s handlers; SIGKILL may leave it.
/// An older folder of ours at the destination, untouched since (``FolderManifest``), is replaced as a
/// whole. File systems that cannot exchange two names take two renames for that; a signal between
/// them leaves the older folder as `.NAME.PID.old`.
///
/// A destination that cannot be renamed (a mount point, the working directory, a folder in one that
/// cannot be written) gets the files one by one, once all of them have been written.
package struct OutputFolder: ~Copyable {
  /// The destination as the user named it.
  package let path: String
  private let target: String
  /// Where the files are until they all are there.
  private let partialPath: String
  private var names: [String] = []
  /// The partial folder and its files, to be removed unless the folder is committed.
  private var partials: [PartialFile]
  private var isCommitted = false
  /// The files move into the destination rather than their folder in its place.
  private let staysInPlace: Bool

  /// Creates an empty partial folder, and the folders above the destination that do not exist.
  package init(creating path: String) throws(FileError) {
    var status = stat()
    // Only reads the path and fills `status`.
    let exists = unsafe stat(path, &status) == 0
    if exists, !status.isDirectory {
      throw FileError(path: path, operation: .create, reason: .system(ENOTDIR))
    }
    let target = try Self.target(path)
    var made: PartialFile?
    var staysInPlace = false
    if !exists || Self.canBeRenamed(target, status) {
      made = Self.makePartial(in: Self.parent(of: target), for: target)
    }
    if made == nil, exists {
      made = Self.makePartial(in: target, for: target)
      staysInPlace = true
    }
    guard let made else { throw .last(path: path, operation: .create) }
    self.path = path
    self.target = target
    self.staysInPlace = staysInPlace
    partialPath = made.path
    partials = [made]
    // Whoever may read the older one may read this one.
    if exists { _ = unsafe chmod(made.path, status.st_mode & 0o7777) }
  }

  deinit {
    if !isCommitted { Self.remove(partialPath, names: names) }
    for partial in partials { partial.forget() }
  }

  /// Adds a file with the bytes that `write` appends to it.
  package mutating func add<Failure: Error>(
    _ name: String, write: (inout OutputFile) throws(Failure) -> Void
  ) throws {
    precondition(!name.contains("/") && name != FolderManifest.name, "no name for a file")
    do {
      var file = try begin(name)
      try write(&file)
      try file.commit()
    } catch let error as FileError {
      // The user knows the destination, not the partial folder.
      throw FileError(path: "\(path)/\(name)", operation: error.operation, reason: error.reason)
    }
  }

  private mutating func begin(_ name: String) throws(FileError) -> OutputFile {
    let place = "\(partialPath)/\(name)"
    names.append(name)
    partials.append(PartialFile(noting: place))
    return try OutputFile(creating: place)
  }

  /// Makes the folder appear with all its files, in place of the older one that may be there.
  package consuming func commit() throws(FileError) {
    let manifest = try FolderManifest(of: names, in: partialPath)
    var file = try begin(FolderManifest.name)
    let bytes = Array(manifest.text.utf8)
    // Bytes have no padding.
    try file.append(unsafe bytes.span.bytes)
    try file.commit()
    let own = staysInPlace ? partialPath : nil
    let older = try Self.older(at: target, path: path, besides: own)
    if staysInPlace {
      try moveFiles(over: older)
    } else if older.isEmpty {
      guard unsafe rename(partialPath, target) == 0 else {
        throw .last(path: path, operation: .rename)
      }
    } else {
      try replace(older)
    }
    isCommitted = true
  }

  /// Moves the files one by one; the manifest is the last one and says that the others are there.
  private borrowing func moveFiles(over older: [String]) throws(FileError) {
    for name in names {
      guard unsafe rename("\(partialPath)/\(name)", "\(target)/\(name)") == 0 else {
        throw .last(path: path, operation: .rename)
      }
    }
    for name in older where !names.contains(name) { _ = unsafe unlink("\(target)/\(name)") }
    _ = unsafe rmdir(partialPath)
  }

  /// Takes the place of an older folder with those files, which goes.
  private borrowing func replace(_ older: [String]) throws(FileError) {
    if unsafe cpr_exchange(partialPath, target) {
      // The partial folder is the older one now.
      Self.remove(partialPath, names: older)
      return
    }
    let aside = "\(Self.parent(of: target))/\(Self.hiddenName(target)).\(getpid()).old"
    guard unsafe rename(target, aside) == 0 else { throw .last(path: path, operation: .rename) }
    guard unsafe rename(partialPath, target) == 0 else {
      let error = FileError.last(path: path, operation: .rename)
      _ = unsafe rename(aside, target)
      throw error
    }
    Self.remove(aside, names: older)
  }
}

extension OutputFolder {
  /// The destination without links; the folders above it are there afterwards.
  private static func target(_ path: String) throws(FileError) -> String {
    if let resolved = unsafe realpath(path, nil) {
      // realpath allocated it with malloc for us alone.
      defer { unsafe free(resolved) }
      return unsafe String(cString: resolved)
    }
    guard errno == ENOENT, !path.isEmpty else { throw .last(path: path, operation: .create) }
    var name = path
    while name.utf8.count > 1, name.utf8.last == UInt8(ascii: "/") { name.removeLast() }
    guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "./\(name)" }
    let parent = slash == name.startIndex ? "/" : String(name[..<slash])
    try makeFolders(parent, path: path)
    return name
  }

  /// Makes a folder and those above it that do not exist.
  private static func makeFolders(_ folder: String, path: String) throws(FileError) {
    guard unsafe mkdir(folder, 0o777) != 0, errno != EEXIST else { return }
    guard errno == ENOENT, let slash = folder.utf8.lastIndex(of: UInt8(ascii: "/")),
      slash != folder.startIndex
    else { throw .last(path: path, operation: .create) }
    try makeFolders(String(folder[..<slash]), path: path)
    guard unsafe mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      throw .last(path: path, operation: .create)
    }
  }

  private static func parent(of target: String) -> String {
    guard let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == target.startIndex ? "/" : String(target[..<slash])
  }

  private static func hiddenName(_ target: String) -> String {
    let name =
      target.utf8.lastIndex(of: UInt8(ascii: "/"))
      .map { String(target[target.index(after: $0)...]) } ?? target
    return ".\(name.prefix(64))"
  }

  /// Whether another folder can take an existing one's place: it is neither where somebody works nor
  /// where a file system begins.
  private static func canBeRenamed(_ target: String, _ status: stat) -> Bool {
    var parentStatus = stat()
    var current = stat()
    // Both values outlive the calls.
    guard unsafe stat(parent(of: target), &parentStatus) == 0, unsafe stat(".", &current) == 0
    else { return false }
    let isWorkingDirectory = current.st_dev == status.st_dev && current.st_ino == status.st_ino
    return parentStatus.st_dev == status.st_dev && !isWorkingDirectory && target != "/"
  }

  /// A new folder, or nil with the reason in `errno`.
  private static func makePartial(in folder: String, for target: String) -> PartialFile? {
    for attempt in 0...1000 {
      let named = PartialFile(
        noting: "\(folder)/\(hiddenName(target)).\(getpid()).\(attempt).partial")
      if unsafe mkdir(named.path, 0o777) == 0 { return named }
      let failure = errno
      named.forget()
      errno = failure
      if failure != EEXIST { break }
    }
    return nil
  }

  /// The files of an older folder of ours at the destination; none where it is empty or missing.
  /// Throws where it holds anything else: it may have come since the run began.
  private static func older(
    at target: String, path: String, besides partial: String?
  ) throws(FileError) -> [String] {
    let names: [String]
    do throws(FileError) { names = try FolderEntries.names(in: target) } catch {
      if error.isMissing { return [] }
      throw FileError(path: path, operation: error.operation, reason: error.reason)
    }
    let own = partial.flatMap { $0.split(separator: "/").last.map(String.init) }
    guard names.contains(where: { $0 != own }) else { return [] }
    guard let manifest = FolderManifest(ofUntouched: target, besides: own) else {
      throw FileError(path: path, operation: .create, reason: .system(ENOTEMPTY))
    }
    return manifest.names + [FolderManifest.name]
  }

  private static func remove(_ folder: String, names: [String]) {
    for name in names { _ = unsafe unlink("\(folder)/\(name)") }
    _ = unsafe rmdir(folder)
  }
}
