/// A Swift source without comments and literals, in which the members of a type can be found.
struct SwiftSource {
    /// A property with its declared type.
    struct Property: Hashable {
        let name: String
        let type: String
    }

    /// A function of one unlabeled parameter, with its declared type.
    struct Function: Hashable {
        let name: String
        let parameterType: String
    }

    private let code: Substring

    /// Creates a source from a text.
    init(_ text: String) { code = Substring(SwiftText.withoutCommentsAndLiterals(text)) }

    private init(code: Substring) { self.code = code }

    /// Returns whether the source declares a type of that name, at any depth.
    func declares(type name: String) -> Bool { !heads(of: "(?:struct|class|actor|enum)", name).isEmpty }

    /// Returns the contents of the braces of a type's declaration and its extensions.
    func bodies(ofType name: String) -> [SwiftSource] {
        (heads(of: "(?:struct|class|actor|enum)", name) + heads(of: "extension", name)).compactMap { head in
            guard let open = code[head.upperBound...].firstIndex(of: "{") else { return nil }
            return SwiftSource(code: SwiftText.block(code[open...]))
        }
    }

    /// Returns the properties at the top level that have a declared type. White space is removed from the type.
    func properties() -> [Property] {
        matches(#"\b(?:var|let)\s+(\w+)\s*:\s*([^\n={]+)"#).map { Property(name: $0, type: $1) }
    }

    /// Returns the functions at the top level with one unlabeled parameter. White space is removed from its type.
    func functions() -> [Function] {
        matches(#"\bfunc\s+(\w+)\s*\(\s*_\s+\w+\s*:\s*([^)]+)\)"#).map { Function(name: $0, parameterType: $1) }
    }

    private func heads(of keyword: String, _ name: String) -> [Range<String.Index>] {
        guard let expression = try? Regex("\\b\(keyword)\\s+(?:\\w+\\.)*\(name)\\b") else { return [] }
        return code.ranges(of: expression)
    }

    private func matches(_ pattern: String) -> [(String, String)] {
        guard let expression = try? Regex(pattern, as: (Substring, Substring, Substring).self) else { return [] }
        return SwiftText.topLevel(code).matches(of: expression).map { match in
            (String(match.output.1), String(match.output.2.filter { !$0.isWhitespace }))
        }
    }
}
