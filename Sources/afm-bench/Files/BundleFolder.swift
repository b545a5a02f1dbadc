import BenchCore
import Files
import Foundation

/// The folder for a run's results.
enum BundleFolder {
  /// Throws where a bundle could not be made: in a folder that holds anything but an older bundle,
  /// untouched since (exit code 2), and where no files can be made (4). Makes nothing.
  static func check(_ path: String) throws {
    // Of a folder that is missing, or that is none, the next step finds the reason.
    let names = (try? FolderEntries.names(in: path)) ?? []
    guard names.isEmpty || FolderManifest(ofUntouched: path) != nil else {
      throw CommandFailure(
        .usage,
        names.contains(FolderManifest.name)
          ? "\(path) (--bundle): files were added or changed since a run wrote the folder; "
            + "name a new one"
          : "\(path) (--bundle): the folder has \(example(names)), which no run wrote; "
            + "name a new one")
    }
    let files = FileManager.default
    if !files.fileExists(atPath: path), (try? files.destinationOfSymbolicLink(atPath: path)) != nil
    {
      throw CommandFailure(
        .environment, "\(path): cannot make files there (it is a link that leads nowhere)")
    }
    var existing = URL(fileURLWithPath: path).standardizedFileURL
    while !files.fileExists(atPath: existing.path), existing.path != "/" {
      existing.deleteLastPathComponent()
    }
    do {
      // A file that is never committed leaves nothing behind.
      _ = try OutputFile(creating: existing.appendingPathComponent("results.json").path)
    } catch {
      throw CommandFailure(.environment, "\(path): cannot make files there (\(error))")
    }
  }

  /// A name in a folder: one that no bundle has, if there is one.
  private static func example(_ names: [String]) -> String {
    let sorted = names.sorted()
    return sorted.first { !BundleText.names.contains($0) } ?? sorted.first ?? "nothing"
  }
}
