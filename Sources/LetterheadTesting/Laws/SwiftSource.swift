/// As much of a Swift source as is needed to find the members of a type: the text without comments and literals.
struct SwiftSource {
    /// A property with the type that is written behind it.
    struct Property: Hashable {
        let name: String
        let type: String
    }

    /// A function of one unlabelled parameter, with its written type.
    struct Function: Hashable {
        let name: String
        let parameterType: String
    }

    private let code: Substring

    /// Reads a source.
    init(_ text: String) { code = Substring(SwiftText.withoutCommentsAndLiterals(text)) }

    private init(code: Substring) { self.code = code }

    /// Whether it declares a type of that name, at any depth.
    func declares(type name: String) -> Bool { !heads(of: "(?:struct|class|actor|enum)", name).isEmpty }

    /// What stands between the braces of a type's declaration and its extensions.
    func bodies(ofType name: String) -> [SwiftSource] {
        (heads(of: "(?:struct|class|actor|enum)", name) + heads(of: "extension", name)).compactMap { head in
            guard let open = code[head.upperBound...].firstIndex(of: "{") else { return nil }
            return SwiftSource(code: SwiftText.block(code[open...]))
        }
    }

    /// The properties at the top level that are written with a type, blanks left out of it.
    func properties() -> [Property] {
        matches(#"\b(?:var|let)\s+(\w+)\s*:\s*([^\n={]+)"#).map { Property(name: $0, type: $1) }
    }

    /// The functions at the top level with one unlabelled parameter, blanks left out of its type.
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
