// SPDX-License-Identifier: MIT
/// A parser for the links in `Link` fields (RFC 8288, appendix B.2). It reads arbitrary bytes in one pass.
struct LinkHeader: Sendable {
    /// The parameters of a link, with names in lower case. Several may have the same name.
    typealias Parameters = [(name: String, value: String)]

    private let bytes: [UInt8]
    /// Whether a comma ends a value, as in a list of links.
    private let isList: Bool
    private var index = 0

    private init(_ text: String, isList: Bool = true) { (bytes, self.isList) = (Array(text.utf8), isList) }

    /// Returns the links in all fields, in order. For a malformed field, it returns the links before the error.
    static func links(in fields: [String]) -> [(reference: String, parameters: Parameters)] {
        fields.flatMap { field in
            var reader = LinkHeader(field)
            return reader.readLinks()
        }
    }

    /// Returns the parameters after the first semicolon in a field that isn't a list.
    static func parameters(of field: String) -> Parameters {
        var reader = LinkHeader(field, isList: false)
        _ = reader.read { $0 == UInt8(ascii: ";") }
        return reader.readParameters()
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func readLinks() -> [(reference: String, parameters: Parameters)] {
        var links: [(reference: String, parameters: Parameters)] = []
        while true {
            skipBlanks(and: UInt8(ascii: ","))
            guard next == UInt8(ascii: "<") else { return links }
            index += 1
            let reference = read { $0 == UInt8(ascii: ">") }
            guard next == UInt8(ascii: ">") else { return links }
            index += 1
            links.append((ASCII.trimmed(reference), readParameters()))
        }
    }

    private mutating func readParameters() -> Parameters {
        var parameters: Parameters = []
        let isEnd = isEnd
        while true {
            skipBlanks()
            guard next == UInt8(ascii: ";") else {
                _ = read { $0 == UInt8(ascii: ",") }
                return parameters
            }
            index += 1
            skipBlanks()
            let name = read { Self.isBlank($0) || $0 == UInt8(ascii: "=") || isEnd($0) }
            skipBlanks()
            guard next == UInt8(ascii: "=") else {
                if !name.isEmpty { parameters.append((ASCII.keyword(name), "")) }
                continue
            }
            index += 1
            skipBlanks()
            parameters.append((ASCII.keyword(name), next == UInt8(ascii: "\"") ? readQuoted() : readPlain()))
        }
    }

    private mutating func readPlain() -> String { ASCII.trimmed(read(until: isEnd)) }

    /// Reads the text between quotation marks, with backslash escapes resolved. Without a closing quotation mark, the
    /// text ends with the field.
    private mutating func readQuoted() -> String {
        var text: [UInt8] = []
        index += 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
            text.append(bytes[index])
            index += 1
        }
        index = min(index + 1, bytes.count)
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func read(until isEnd: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = next, !isEnd(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipBlanks(and other: UInt8? = nil) {
        while let byte = next, Self.isBlank(byte) || byte == other { index += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private var isEnd: (UInt8) -> Bool {
        { [isList] in $0 == UInt8(ascii: ";") || isList && $0 == UInt8(ascii: ",") }
    }
}
