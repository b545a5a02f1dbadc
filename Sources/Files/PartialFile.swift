import CProcess

/// A named partial file or folder of this process, removed when a signal ends the program.
///
/// Only folders, file systems without `O_TMPFILE`, and the moment in which a file replaces an older
/// one, need it. The program's signal handlers (`cpr_install`) do the removal: a process that has not
/// installed them, as a program that uses these libraries, keeps its own.
struct PartialFile {
  let path: String
  /// The file's number among the noted ones; −1 where there was no room to note it.
  private let number: Int32

  /// From now on a signal removes the file.
  init(noting path: String) {
    self.path = path
    // The C string lives for the call, which copies it.
    number = unsafe cpr_note_partial(path)
  }

  /// The file is gone or has become a whole one.
  func forget() { cpr_forget_partial(number) }
}
