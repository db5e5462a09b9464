// SPDX-License-Identifier: MIT
import LetterheadObserving
import Synchronization

extension Cassette {
    /// A string in a cassette that is likely to be a secret.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// Where the string is, such as `entry 2, body of the response`.
        public let place: String
        /// The rule that the string matches, such as `JSON Web Token`.
        public let rule: String
        /// The string's first bytes and its length.
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
        let (entries, audit) = (state.withLock { $0.entries }, ArchiveAudit(redaction))
        func pairs(_ fields: [HAR.Field]?) -> [(name: String, value: String)] {
            (fields ?? []).map { ($0.name, $0.value) }
        }
        return entries.enumerated().flatMap { index, entry -> [ArchiveAudit.Finding] in
            guard let (request, response) = entry.map({ ($0.request, $0.response) }) else { return [] }
            let (post, content) = (request.postData, response.content)
            return audit.findings(
                in: "entry \(index + 1)", url: request.url,
                [
                    ("request", pairs(request.headers), post?.data, post?.mimeType),
                    ("response", pairs(response.headers), content?.data, content?.mimeType),
                ])
        }.map { Finding(place: $0.place, rule: $0.rule, excerpt: $0.excerpt) }
    }
}
