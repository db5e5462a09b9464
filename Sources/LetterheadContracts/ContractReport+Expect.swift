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
    /// Only what breaks decoding and isn't in the file is an error: a required member that is missing, a value of
    /// another type, a new value of an enumeration, a body that can't be decoded, and an endpoint without a response.
    /// As with `RequestSnapshot`, a missing file is written, and the check fails so that you review it. If the
    /// environment variable `LETTERHEAD_SNAPSHOTS` is `record`, the file is replaced and the check succeeds. A report
    /// replaces the whole file, so give each test a file of its own.
    ///
    /// - Parameters:
    ///   - name: the file's name or its path, relative to the source file's folder.
    ///   - source: the source file's path. Default: the calling file.
    /// - Throws: `RecordingError` with the endpoint, the path, what was and what is, or if the file did not exist, or
    ///   the file system's error.
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
            broken.append("\(endpoint): was checked, is without a response")
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
    /// Whether a contract has the break: its line, without the endpoint and the path, lists it after an equal demand.
    fileprivate func isKnown(in line: String) -> Bool {
        guard let middle = summary.utf8.firstRange(of: ", but ".utf8) else { return false }
        let (demand, text) = (summary[..<middle.lowerBound], summary[middle.upperBound...])
        return line.begins(with: "\(demand), ") && "\(line), ".utf8.firstRange(of: ", \(text), ".utf8) != nil
    }
}
