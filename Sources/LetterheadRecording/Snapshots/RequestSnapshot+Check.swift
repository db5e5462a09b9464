// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Letterhead

extension RequestSnapshot {
    /// Compares the snapshot with a file.
    ///
    /// If the file doesn't exist, this method writes it and throws an error, so that you review the new file. If the
    /// environment variable `LETTERHEAD_SNAPSHOTS` is `record`, it writes the file without a comparison, and succeeds.
    ///
    /// - Parameter file: the snapshot file.
    /// - Throws: ``RecordingError`` if the snapshot differs from the file, or if the file did not exist. Also an error
    ///   from the file system.
    public func check(against file: URL) throws {
        guard let recorded = try RecordedText.read(file, replacedBy: text, named: "snapshot") else { return }
        guard recorded != text else { return }
        throw RecordingError(
            "the request differs from \(file.lastPathComponent) (- in the file, + in the request):\n"
                + LineDifference.text(from: recorded, to: text))
    }

    /// Compares the snapshot with the file for one test.
    ///
    /// The folder `Snapshots` is next to the test file. The path is `Snapshots/FILE/TEST.EXTENSION`, or
    /// `Snapshots/FILE/TEST-NAME.EXTENSION` with a name.
    ///
    /// - Parameters:
    ///   - name: a name that distinguishes several snapshots in one test. Default: empty (no name).
    ///   - test: the test name. Default: the calling function.
    ///   - source: the source file path. Default: the calling file.
    /// - Throws: ``RecordingError`` if the snapshot differs from the file, or if the file did not exist. Also an error
    ///   from the file system.
    public func check(named name: String = "", test: String = #function, in source: String = #filePath) throws {
        let suffix = name.isEmpty ? "" : "-\(name)"
        try check(
            against: TestFile.url(in: "Snapshots", test: test + suffix, source: source, extension: fileExtension))
    }
}

/// A text file that a person reviews before it's committed.
package enum RecordedText {
    /// Returns the text in the file, or nil if the environment variable `LETTERHEAD_SNAPSHOTS` is `record`. In this
    /// case, the new text has replaced the file.
    ///
    /// - Throws: ``RecordingError`` if the file did not exist. It has been written then.
    package static func read(_ file: URL, replacedBy text: String, named kind: String) throws -> String? {
        let isRecording = ProcessInfo.processInfo.environment["LETTERHEAD_SNAPSHOTS"] == "record"
        do throws(PrivateFile.Failure) { try PrivateFile.checkPlace(file) } catch {
            throw RecordingError("the \(kind) \(file.path) \(error.rule)")
        }
        let exists = FileManager.default.fileExists(atPath: file.path)
        guard isRecording || !exists else { return try String(contentsOf: file, encoding: .utf8) }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file, options: .atomic)
        if isRecording { return nil }
        throw RecordingError("the \(kind) \(file.path) did not exist and was written: check it")
    }
}

/// The locations of files that belong to a test.
enum TestFile {
    /// Returns `FOLDER/FILE/TEST.EXTENSION` next to a source file. In the test name, everything except letters and
    /// digits becomes a hyphen.
    static func url(in folder: String, test: String, source: String, extension: String) -> URL {
        let source = URL(filePath: source)
        var name = test.map { $0.isLetter || $0.isNumber ? $0 : "-" }.drop { $0 == "-" }
        while name.last == "-" { name.removeLast() }
        return source.deletingLastPathComponent().appending(path: folder)
            .appending(path: source.deletingPathExtension().lastPathComponent)
            .appending(path: "\(String(name)).\(`extension`)")
    }
}

enum LineDifference {
    /// Returns all lines of both texts: removed ones with `-`, added ones with `+`, common ones with a space.
    static func text(from old: String, to new: String) -> String {
        let old = old.split(at: "\n", omittingEmpty: false)
        let difference = new.split(at: "\n", omittingEmpty: false).difference(from: old)
        var lines = old.map { (mark: " ", text: $0) }
        for case .remove(let place, _, _) in difference.removals { lines[place].mark = "-" }
        for case .insert(let place, let text, _) in difference.insertions {
            // The offset of an insertion counts only the lines that are not removed.
            let kept = lines.indices.filter { lines[$0].mark != "-" }
            lines.insert(("+", text), at: place < kept.count ? kept[place] : lines.count)
        }
        return lines.map { "\($0.mark) \($0.text)" }.joined(separator: "\n")
    }
}
