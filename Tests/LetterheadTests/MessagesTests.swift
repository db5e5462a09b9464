// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// Compares the messages of the library that name a remedy, in parentheses, with the list in Tests/Fixtures/messages.txt,
/// so that a change of what users are told to do is visible in review.
@Suite struct MessagesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let list = root.appending(path: "Tests/Fixtures/messages.txt")

    @Test func `every message with a remedy is in the list of messages`() throws {
        let messages = try Self.messages().filter { $0.contains(/\([a-z][^()…]* [^()]*/) }
        #expect(messages.count > 100)
        if ProcessInfo.processInfo.environment["UPDATE_MESSAGES"] != nil {
            try Data((messages.joined(separator: "\n") + "\n").utf8).write(to: Self.list)
        }
        let expected = try String(contentsOf: Self.list, encoding: .utf8).split(separator: "\n").map(String.init)
        let (added, removed) = (Set(messages).subtracting(expected), Set(expected).subtracting(messages))
        #expect(
            added.isEmpty && removed.isEmpty,
            """
            The remedies in messages of the library differ from Tests/Fixtures/messages.txt. Review them, then run the tests with \
            UPDATE_MESSAGES=1 in the environment.
            + \(added.sorted().joined(separator: "\n+ "))
            - \(removed.sorted().joined(separator: "\n- "))
            """)
    }

    @Test func `a message begins in lower case and ends without a full stop`() throws {
        for message in try Self.messages() {
            let text = message.drop { $0 != " " }.dropFirst()
            #expect(!text.hasSuffix("."), "\(message)")
        }
    }

    @Test func `a message is read through its interpolations and concatenations, and comments are not`() {
        let source = #"""
            // "not a message at all"
            throw Failure(message: "the \(kind(of: "a b c")) is longer than " + "\(limit) bytes")
            let name = "Content-Type", other = "Two words"
            """#
        #expect(SwiftText(source).messages == ["the (…) is longer than (…) bytes"])
    }

    private static func messages() throws -> [String] {
        let folder = root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("LetterheadTesting")
        }
        let lines = try paths.flatMap { path in
            let source = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return SwiftText(source).messages.map { "\(name) \($0)" }
        }
        return Set(lines).sorted()
    }
}

/// The string literals of a Swift file. It reads as much of the language as the sources of the library use.
private struct SwiftText {
    private var rest: Substring

    init(_ source: String) { rest = Substring(source) }

    /// The literals that are messages: at least three words, and the first begins in lower case or is an acronym.
    /// Interpolated values are written `(…)`, and concatenated literals are one message.
    var messages: [String] {
        var text = self
        var messages: [String] = []
        while let literal = text.nextConcatenation() {
            let words = literal.split(separator: " ")
            // Tables of characters are no sentences.
            guard words.count > 2, !literal.contains("....") else { continue }
            let (first, second) = (words[0].first, words[0].dropFirst().first)
            let isMessage = first?.isLowercase == true || first == "(" || second?.isUppercase == true
            if isMessage { messages.append(literal) }
        }
        return messages
    }

    private mutating func nextConcatenation() -> String? {
        guard var message = nextLiteral() else { return nil }
        while true {
            let blanks = rest.drop(while: \.isWhitespace)
            guard blanks.first == "+" else { return message }
            let next = blanks.dropFirst().drop(while: \.isWhitespace)
            guard next.first == "\"" else { return message }
            rest = next
            message += nextLiteral() ?? ""
        }
    }

    private mutating func nextLiteral() -> String? {
        while let character = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("\"\"\"") {
                return multilineLiteral()
            } else if character == "\"" {
                rest = rest.dropFirst()
                return literal(until: "\"")
            } else if rest.hasPrefix("#\"") {
                let body = rest.dropFirst(2)
                guard let end = body.range(of: "\"#") else { return nil }
                rest = body[end.upperBound...]
                return String(body[..<end.lowerBound])
            } else {
                rest = rest.dropFirst()
            }
        }
        return nil
    }

    private mutating func multilineLiteral() -> String {
        rest = rest.dropFirst(3)
        let text = literal(until: "\"\"\"")
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private mutating func literal(until end: String) -> String {
        var text = ""
        while let character = rest.first, !rest.hasPrefix(end) {
            if rest.hasPrefix("\\(") {
                skipInterpolation()
                text += "(…)"
            } else if character == "\\" {
                let escaped = rest.dropFirst().first
                rest = rest.dropFirst(2)
                if let escaped, !escaped.isNewline { text.append(escaped == "n" ? " " : escaped) }
            } else {
                text.append(character)
                rest = rest.dropFirst()
            }
        }
        rest = rest.dropFirst(end.count)
        return text
    }

    private mutating func skipInterpolation() {
        rest = rest.dropFirst(2)
        var depth = 1
        while depth > 0, let character = rest.first {
            rest = rest.dropFirst()
            switch character {
            case "(": depth += 1
            case ")": depth -= 1
            case "\"": _ = literal(until: "\"")
            default: break
            }
        }
    }
}
