extension Redaction {
    /// Redacts in a text that holds URLs, as `Location` and `Link` do: user and password, and the values of secret names
    /// behind `?`, `&`, `;` or `#`.
    func redactURLs(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else { return text }
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            output.append(byte)
            if "?&;#".utf8.contains(byte) {
                // A name ends at each separator, or one that is long would be looked through behind each of them.
                let name = rest.prefix { !"=?;".utf8.contains($0) && Self.isInside($0) }
                guard rest.dropFirst(name.count).first == UInt8(ascii: "="), isSecret(escaped: name) else { continue }
                output += name + "=\(Self.mark)".utf8
                rest = rest.dropFirst(name.count + 1).drop(while: Self.isInside)
            } else if output.suffix(3).elementsEqual("://".utf8) {
                let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && Self.isInside($0) }
                guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
                output += Self.mark.utf8
                rest = rest[at...]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func isSecret(escaped name: ArraySlice<UInt8>) -> Bool {
        isSecret(parameter: PercentEncoding.unescape(String(decoding: name, as: UTF8.self)))
    }

    /// Whether a byte belongs to a name or a value: no separator of a query, no end of a URL in a text.
    private static func isInside(_ byte: UInt8) -> Bool { byte > 0x20 && !"&#\"<>\\".utf8.contains(byte) }
}
