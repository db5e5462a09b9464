// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

extension Cassette {
    /// A string in a cassette that is likely to be a secret.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// Where the string is, such as `entry 2, body of the response`.
        public let place: String
        /// The rule that the string matches, such as `JSON Web Token`.
        public let rule: String
        /// The string's first characters and its length.
        public let excerpt: String

        /// The place, the rule and the excerpt on one line.
        public var description: String { "\(place): \(rule) \(excerpt)" }
    }

    /// Searches the cassette for strings that are likely to be secrets: tokens and keys in known formats, private keys,
    /// long random strings, and values that are still there although their names are secret.
    ///
    /// Call it in a test, so that no secret is committed: `#expect(cassette.audit().isEmpty)`. If it finds a secret,
    /// add its name to the cassette's `redaction`, and record again.
    ///
    /// - Returns: the findings, entry by entry.
    public func audit() -> [Finding] {
        let entries = state.withLock { $0.entries }
        return entries.enumerated().flatMap { index, entry -> [Finding] in
            guard let entry else { return [] }
            let place = "entry \(index + 1)"
            return audit(entry.request.url, "\(place), URL") + audit(entry.request.headers, "\(place), request")
                + audit(entry.request.postData?.data, entry.request.postData?.mimeType, "\(place), body of the request")
                + audit(entry.response.headers, "\(place), response")
                + audit(
                    entry.response.content?.data, entry.response.content?.mimeType, "\(place), body of the response")
        }
    }

    private func audit(_ fields: [HAR.Field]?, _ place: String) -> [Finding] {
        (fields ?? []).flatMap { field -> [Finding] in
            let name = HTTPHeaders.Name(field.name)
            let isNamed = redaction.names.isSecret(header: name)
            guard isNamed, !field.value.contains(CassetteRedaction.placeholder) else {
                return audit(field.value, "\(place), header \(field.name)")
            }
            return [Self.finding("\(place), header \(field.name)", "value of a secret name", field.value)]
        }
    }

    private func audit(_ data: Data?, _ mediaType: String?, _ place: String) -> [Finding] {
        guard let data, !data.isEmpty else { return [] }
        let type = mediaType.flatMap { MediaType($0) }
        let hasSecret = redaction.body(data, mediaType: type, isSecret: false) != data
        return audit(String(decoding: data, as: UTF8.self), hasSecret: hasSecret, place)
    }

    private func audit(_ text: String, _ place: String) -> [Finding] {
        audit(text, hasSecret: redaction.text(text) != text, place)
    }

    private func audit(_ text: String, hasSecret: Bool, _ place: String) -> [Finding] {
        for (rule, expression) in Self.rules {
            if let match = text.firstMatch(of: expression) { return [Self.finding(place, rule, String(match.output))] }
        }
        if hasSecret { return [Self.finding(place, "value of a secret name", text)] }
        let random = text.matches(of: /[A-Za-z0-9+\/_-]{32,}={0,2}/).first { Self.isRandom($0.output) }
        return random.map { [Self.finding(place, "random text", String($0.output))] } ?? []
    }

    private static func finding(_ place: String, _ rule: String, _ text: String) -> Finding {
        Finding(place: place, rule: rule, excerpt: "\(text.prefix(4))… (\(text.count) characters)")
    }

    private static var rules: [(String, Regex<Substring>)] {
        [
            ("JSON Web Token", /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/),
            ("credentials", /(?:Bearer|Basic|bearer|basic) [A-Za-z0-9._~+\/=-]{8,}/),
            ("private key", /-----BEGIN [A-Z ]*PRIVATE KEY/),
            ("AWS access key", /(?:AKIA|ASIA)[0-9A-Z]{16}/),
            ("GitHub token", /gh[pousr]_[A-Za-z0-9]{20,}/),
            ("Slack token", /xox[abeprs]-[A-Za-z0-9-]{10,}/),
            ("Stripe key", /[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/),
            ("API key", /sk-[A-Za-z0-9_-]{20,}/),
            ("Google API key", /AIza[0-9A-Za-z_-]{35}/),
        ]
    }

    /// Returns whether a string has more than 4 bits of entropy per character, and contains letters and digits.
    private static func isRandom(_ text: Substring) -> Bool {
        guard text.contains(where: \.isNumber), text.contains(where: \.isLetter) else { return false }
        var counts: [Character: Double] = [:]
        for character in text { counts[character, default: 0] += 1 }
        let total = Double(text.count)
        return counts.values.reduce(0) { $0 - $1 / total * log2($1 / total) } > 4
    }
}
