// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
public import LetterheadObserving

extension ContractReport {
    /// Compares the report with a contract: a text file next to the test, with one sorted line for each member.
    ///
    /// ```
    /// GET users/{} GetUser $.email: required String
    /// GET users/{} GetUser $.node_id: unread
    /// ```
    ///
    /// Only what breaks decoding and isn't in the file is an error: a required member that is missing, a value of another
    /// type, a new value of an enumeration, a body that can't be decoded, and an endpoint without a response. As with
    /// ``RequestSnapshot``, a missing file is written, and the check fails so that you review it. If the environment
    /// variable `LETTERHEAD_SNAPSHOTS` is `record`, the file is replaced and the check succeeds.
    ///
    /// - Parameters:
    ///   - name: the file's name or its path, relative to the source file's folder.
    ///   - source: the source file's path. Default: the calling file.
    /// - Throws: ``SnapshotMismatch`` with the endpoint, the path, what was and what is, or if the file did not exist, or
    ///   the file system's error.
    public func expect(noBreakSince name: String, in source: String = #filePath) throws {
        let file = URL(filePath: source).deletingLastPathComponent().appending(path: name)
        let now = lines
        guard let text = try RecordedText.read(file, replacedBy: now.map { "\($0)\n" }.joined(), named: "contract")
        else { return }
        let recorded = text.split(at: "\n").map(String.init)
        let known = Set(recorded)
        var broken: [String] = []
        for (path, line) in Set(findings.filter(\.kind.isBreak).map { "\($0.endpoint) \($0.path): " }).sorted()
            .compactMap({ path in now.first { $0.begins(with: path) }.map { (path, $0) } })
        where !known.contains(line) {
            let was = recorded.first { $0.begins(with: path) }.map { String($0.utf8.dropFirst(path.utf8.count)) ?? "" }
            let what = String(line.utf8.dropFirst(path.utf8.count)) ?? ""
            broken.append("\(path)was \(was ?? "not known"), is \(what)")
        }
        let checked = Set(now.compactMap(Self.endpoint))
        for endpoint in Set(recorded.compactMap(Self.endpoint)).subtracting(checked).sorted() {
            broken.append("\(endpoint): was checked, is without a response")
        }
        guard !broken.isEmpty else { return }
        throw SnapshotMismatch(
            description: "the responses break \(file.lastPathComponent):\n" + broken.joined(separator: "\n"))
    }

    private static func endpoint(of line: String) -> String? {
        line.utf8.firstRange(of: " $".utf8).flatMap { String(line[..<$0.lowerBound]) }
    }
}
