// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// Keeps the text of the project in plain English: comments, messages and documents use certain turns of phrase rarely.
@Suite struct LanguageTests {
    /// Turns of phrase, and how often each may occur in 1,000 words.
    private static let turns: [(pattern: String, limit: Double)] = [
        (#"\b(whoever|whomever|nobody|somebody|anybody|whom)\b"#, 0.2),
        (#"\b(those who|one who|who waits|who asks|who comes|who calls|who is served|who has)\b"#, 0.2),
        (#"\bbehind\b"#, 0.25),
        (#"\b(says|said|say|saying)\b"#, 0.6),
        (#"\b(gives|hears|hear|heard)\b"#, 0.3),
        (#"\b(is|are|was|were) (none|no)\b(?! longer)"#, 0.6),
        (#"\b(of one's own|of its own|of their own|of yours|of ours|of your own)\b"#, 0.25),
        (#"\b(be had|was got|is got|are got|come by|comes by)\b"#, 0.1),
        (#"\b(repeat|repeats|repeated|repetition)\b"#, 0.45),
        (#"\b(as it is|as they are|as it was|as ever)\b"#, 0.3),
        (#"\b(luck|goodbye|manners|temper|tempers|lest|thereby|whereof|therein|wherein)\b"#, 0.06),
        (#"\b(goes on|go on|went on|going on)\b"#, 0.2),
        (#"\b(whatever|whichever)\b"#, 0.3),
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `turns of phrase that slow a reader down are rare`() throws {
        let text = try Self.prose()
        let words = text.split { !$0.isLetter && $0 != "'" }.count
        #expect(words > 50_000)
        for (pattern, limit) in Self.turns {
            let rate = Double(try Self.count(pattern, in: text)) * 1000 / Double(words)
            #expect(rate <= limit, "\(pattern) occurs \(rate) times in 1,000 words; the limit is \(limit)")
        }
    }

    @Test func `comments, messages and prose are checked, and code is not`() {
        let code = """
            let behind = whom  // nobody waits
            throw Failure("the value says nothing at all")
            let url = "https://behind.example"
            """
        #expect(Self.prose(ofSwift: code, withMessages: true) == ["nobody waits", "the value says nothing at all"])
        #expect(Self.prose(ofSwift: code, withMessages: false) == ["nobody waits"])
        #expect(Self.prose(ofMarkdown: "one `whom` two\n```\nwhom\n```\nthree") == ["one `whom` two", "three"])
    }

    private static func count(_ pattern: String, in text: String) throws -> Int {
        let expression = try NSRegularExpression(pattern: pattern, options: .caseInsensitive)
        return expression.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
    }

    /// The comments and documents of the project, and the messages of its sources, without text in code voice.
    private static func prose() throws -> String {
        var lines: [String] = []
        for folder in ["Sources", "Tests", "Examples", "Benchmarks", "Adapters"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            for path in paths where path.hasSuffix(".swift") || path.hasSuffix(".md") {
                // This file holds the turns of phrase themselves.
                guard !path.hasSuffix("LanguageTests.swift"), !path.contains(".build") else { continue }
                let text = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
                lines +=
                    path.hasSuffix(".md")
                    ? prose(ofMarkdown: text) : prose(ofSwift: text, withMessages: folder == "Sources")
            }
        }
        let documents = [
            "README.md", "API.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "GOVERNANCE.md",
            "CODE_OF_CONDUCT.md", "llms.txt",
        ]
        for name in documents {
            lines += prose(ofMarkdown: try String(contentsOf: root.appending(path: name), encoding: .utf8))
        }
        let voices = try NSRegularExpression(pattern: "`+[^`\\n]*`+")
        let text = lines.joined(separator: "\n")
        return voices.stringByReplacingMatches(
            in: text, range: NSRange(text.startIndex..., in: text), withTemplate: " ")
    }

    private static func prose(ofMarkdown text: String) -> [String] {
        var isCode = false
        var prose: [String] = []
        for line in text.components(separatedBy: "\n") {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                isCode.toggle()
            } else if line.hasPrefix("<!--") {
                isCode = true
            } else if line.hasPrefix("-->") {
                isCode = false
            } else if !isCode {
                prose.append(line)
            }
        }
        return prose
    }

    private static func prose(ofSwift text: String, withMessages: Bool) -> [String] {
        text.components(separatedBy: "\n").flatMap { line -> [String] in
            let line = line.trimmingCharacters(in: .whitespaces)
            if let start = commentStart(in: line) {
                return [line[start...].drop { $0 == "/" }.trimmingCharacters(in: .whitespaces)]
            }
            // Every second part between quotation marks is a literal, apart from escaped marks.
            let parts = line.replacingOccurrences(of: "\\\"", with: "'").components(separatedBy: "\"")
            let literals = parts.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            return withMessages ? literals.filter { $0.split(separator: " ").count > 2 } : []
        }
    }

    /// Where a comment begins: at the start of a line or after a space, so that a URL is not one.
    private static func commentStart(in line: String) -> String.Index? {
        if line.hasPrefix("//") { return line.startIndex }
        return line.range(of: " //").map { line.index(after: $0.lowerBound) }
    }
}
