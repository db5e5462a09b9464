// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import LetterheadRecording

extension ContractReport {
    /// Compares the report with a contract: a text file next to the test, with one sorted line for each member.
    ///
    /// ```
    /// GET users/{} GetUser $.email: required String
    /// GET users/{} GetUser $.node_id: unread
    /// ```
    ///
    /// The check fails if the responses contain a break that isn't in the file: a required member is missing, a value
    /// has a different type, an enumeration has a new value, or a body can't be decoded. It also fails if an endpoint
    /// in the file no longer has a response.
    ///
    /// As with `RequestSnapshot`, a missing file is written, and the check fails so that you review it. If the
    /// environment variable `LETTERHEAD_SNAPSHOTS` is `record`, the report replaces the whole file, and the check
    /// succeeds. Use a separate file for each test.
    ///
    /// - Parameters:
    ///   - name: the name of the file, or its path relative to the source file.
    ///   - source: the source file path. Default: the calling file.
    /// - Throws: `RecordingError` if the file did not exist, or if a response breaks the contract. The message names
    ///   the endpoint and the path, what the contract has there, and what the responses have. Also an error from the
    ///   file system.
    public func expect(noBreakSince name: String, in source: String = #filePath) throws {
        let file = URL(filePath: source).deletingLastPathComponent().appending(path: name)
        let now = lines
        guard let text = try RecordedText.read(file, replacedBy: now.map { "\($0)\n" }.joined(), named: "contract")
        else { return }
        let recorded = text.split(at: "\n").map(String.init)
        func rest(of path: String, in lines: [String]) -> String? {
            lines.first { $0.begins(with: path) }.flatMap { String($0.utf8.dropFirst(path.utf8.count)) }
        }
        var broken: [String] = []
        let breaks = Dictionary(grouping: findings.filter(\.kind.isBreak)) { "\($0.endpoint) \($0.path): " }
        for (path, found) in breaks.sorted(by: { $0.key < $1.key }) {
            let was = rest(of: path, in: recorded)
            if let was, found.allSatisfy({ $0.isKnown(in: was) }) { continue }
            broken.append("\(path)was \(was ?? "not known"), is \(rest(of: path, in: now) ?? "")")
        }
        let checked = Set(now.compactMap(Self.endpoint))
        for endpoint in Set(recorded.compactMap(Self.endpoint)).subtracting(checked).sorted() {
            broken.append("\(endpoint): was checked before, and now has no recorded response")
        }
        guard !broken.isEmpty else { return }
        throw RecordingError(
            "the responses break \(file.lastPathComponent):\n" + broken.joined(separator: "\n"))
    }

    private static func endpoint(of line: String) -> String? {
        line.utf8.firstRange(of: " $".utf8).flatMap { String(line[..<$0.lowerBound]) }
    }
}

extension ContractReport.Finding {
    /// Returns whether a line of the contract already lists this break, with the same demand. The line has no endpoint
    /// and no path.
    fileprivate func isKnown(in line: String) -> Bool {
        guard let middle = summary.utf8.firstRange(of: ", but ".utf8) else { return false }
        let (demand, text) = (summary[..<middle.lowerBound], summary[middle.upperBound...])
        return line.begins(with: "\(demand), ") && "\(line), ".utf8.firstRange(of: ", \(text), ".utf8) != nil
    }
}
