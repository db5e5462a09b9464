/// Finds the ends of comments, literals and blocks in a Swift source.
enum SwiftText {
    /// Returns the text without comments, and with empty literals.
    static func withoutCommentsAndLiterals(_ text: String) -> String {
        var output = ""
        var rest = Substring(text)
        while let character = rest.first {
            if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = behindComment(rest)
            } else if rest.hasPrefix("\"\"\"") {
                output += "\"\""
                rest = behind("\"\"\"", rest.dropFirst(3))
            } else if rest.hasPrefix("#\"") {
                output += "\"\""
                rest = behind("\"#", rest.dropFirst(2))
            } else if character == "\"" {
                output += "\"\""
                rest = behind("\"", rest.dropFirst())
            } else {
                output.append(character)
                rest = rest.dropFirst()
            }
        }
        return output
    }

    /// Returns the text between an opening brace, with which the text begins, and its closing brace.
    static func block(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == "{" { depth += 1 }
            guard text[index] == "}" else { continue }
            depth -= 1
            if depth == 0 { return text[..<index].dropFirst() }
        }
        return text.dropFirst()
    }

    /// Returns the text without the contents of braces.
    static func topLevel(_ text: Substring) -> String {
        var depth = 0
        var output = ""
        for character in text {
            if character == "{" { depth += 1 }
            if depth == 0 || (depth == 1 && character == "{") { output.append(character) }
            guard character == "}" else { continue }
            depth -= 1
            if depth == 0 { output.append("\n") }
        }
        return output
    }

    /// Returns the text after a comment. Comments can be nested.
    private static func behindComment(_ text: Substring) -> Substring {
        var depth = 0
        var rest = text
        while !rest.isEmpty {
            if rest.hasPrefix("/*") { depth += 1 }
            if rest.hasPrefix("*/") {
                depth -= 1
                if depth == 0 { return rest.dropFirst(2) }
            }
            rest = rest.dropFirst()
        }
        return rest
    }

    /// Returns the text after the end of a literal. Its interpolations may contain further literals.
    private static func behind(_ end: String, _ text: Substring) -> Substring {
        var rest = text
        while !rest.isEmpty, !rest.hasPrefix(end) {
            if rest.hasPrefix("\\(") {
                rest = behindInterpolation(rest.dropFirst(2))
            } else {
                rest = rest.dropFirst(rest.first == "\\" ? 2 : 1)
            }
        }
        return rest.dropFirst(end.count)
    }

    private static func behindInterpolation(_ text: Substring) -> Substring {
        var depth = 1
        var rest = text
        while let character = rest.first {
            if character == "\"" {
                rest = behind("\"", rest.dropFirst())
                continue
            }
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            rest = rest.dropFirst()
            if depth == 0 { break }
        }
        return rest
    }
}
