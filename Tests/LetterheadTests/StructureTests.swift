import Foundation
import Testing

/// The folders of the library are ordered, and a file names only types of the same folder or of an earlier one.
@Suite struct StructureTests {
    static let order = [
        "Support", "Message", "Templates", "Chain", "Links", "Transport", "Client",
    ]

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Letterhead")

    @Test func `every source file is in a folder of the order`() throws {
        let files = try SourceFile.all(in: Self.sources)
        #expect(files.count > 50)
        for file in files {
            #expect(Self.order.contains(file.folder), "\(file.path)")
        }
    }

    @Test func `a file refers only to types of the same or an earlier folder`() throws {
        #expect(try SourceFile.upwardNames(in: SourceFile.all(in: Self.sources), order: Self.order) == [])
    }

    @Test func `a name of a later folder is found, and one in a comment or a text is not`() {
        let early = SourceFile(
            path: "Support/A.swift",
            code: """
                // Late is fine here, and so is ``Late``.
                struct A { let text = "Late", late: Late }
                """)
        let late = SourceFile(path: "Client/Late.swift", code: "public final class Late: Sendable {}")
        #expect(
            SourceFile.upwardNames(in: [early, late], order: Self.order)
                == ["Support/A.swift names Late of Client/Late.swift"])
        let quiet = SourceFile(path: "Support/A.swift", code: "/// Late\nlet text = \"Late \\\" Late\" /* Late */")
        #expect(SourceFile.upwardNames(in: [quiet, late], order: Self.order) == [])
    }

    @Test func `a private type belongs to its file, and one that two files declare to neither in particular`() {
        let early = SourceFile(path: "Support/A.swift", code: "struct A { let one: Hidden; let two: Twice }")
        let late = SourceFile(path: "Chain/B.swift", code: "private struct Hidden {}\nstruct Twice {}")
        let other = SourceFile(path: "Client/C.swift", code: "struct Twice {}")
        #expect(SourceFile.upwardNames(in: [early, late, other], order: Self.order) == [])
    }

    @Test func `a closure that creates a body has no capture list, which would leave the reader's actor`() throws {
        let closure = /(HTTPResponseBody\([^)]*\)|\bpull:|\bpull =|async throws -> Data\? =) \{ \[/
        for listed in ["HTTPResponseBody(length: length) { [self] in", "pull: { [self] in", "let pull = { [pull] in"] {
            #expect(listed.contains(closure), "\(listed)")
        }
        for file in try SourceFile.all(in: Self.sources) { #expect(!file.contains(closure), "\(file.path)") }
    }
}

/// A Swift file as the structure is read from it.
private struct SourceFile {
    let path: String
    private let code: String

    init(path: String, code: String) {
        self.path = path
        self.code = Self.blank(code)
    }

    var folder: String { String(path.prefix { $0 != "/" }) }

    func contains(_ pattern: some RegexComponent) -> Bool { code.contains(pattern) }

    static func all(in folder: URL) throws -> [SourceFile] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { $0.hasSuffix(".swift") }.map
        {
            SourceFile(path: $0, code: try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
        }
    }

    static func upwardNames(in files: [SourceFile], order: [String]) -> [String] {
        var owners: [String: [SourceFile]] = [:]
        for file in files { for name in file.declared { owners[name, default: []].append(file) } }
        let rank = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        return files.flatMap { file in
            file.names.sorted().compactMap { name in
                guard let owner = owners[name], owner.count == 1, let own = rank[file.folder],
                    let other = rank[owner[0].folder], other > own
                else { return nil }
                return "\(file.path) names \(name) of \(owner[0].path)"
            }
        }
    }

    /// The types that it declares at its top level and that other files can see.
    private var declared: Set<String> {
        let modifiers =
            #"(?:@\w+(?:\([^)]*\))?\s+)*((?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated)\s+)*)"#
        let expression = /(?:struct|class|actor|enum|protocol|typealias)\s+([A-Z]\w*)/
        guard let start = try? Regex("^\(modifiers)$") else { return [] }
        return Set(
            code.split(separator: "\n").compactMap { line in
                guard let match = line.firstMatch(of: expression),
                    let head = try? start.wholeMatch(in: line[..<match.range.lowerBound]),
                    head[1].substring?.contains("private") != true
                else { return nil }
                return String(match.output.1)
            })
    }

    private var names: Set<String> { Set(code.matches(of: /\b[A-Z]\w*/).map { String($0.output) }) }

    /// The text without comments and without the contents of literals.
    private static func blank(_ code: String) -> String {
        code.replacing(/"""[\s\S]*?"""/, with: "\"\"")
            .replacing(/\/\*[\s\S]*?\*\//, with: " ")
            .replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"")
            .replacing(/\/\/[^\n]*/, with: " ")
    }
}
