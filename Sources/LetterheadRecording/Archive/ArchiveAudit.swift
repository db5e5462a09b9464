// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Searches an archive for strings that are likely to be secrets.
///
/// A method finds at most one string in a text without names: the one that matches the earliest rule.
struct ArchiveAudit: Sendable {
    /// Where a string is, the rule that it matches, and its beginning and length.
    typealias Finding = (place: String, rule: String, excerpt: String)

    private let redaction: ArchiveRedaction

    init(_ redaction: ArchiveRedaction) { self.redaction = redaction }

    /// Searches an entry, its error included.
    func findings(in entry: HAR.Entry, number: Int) -> [Finding] {
        let (place, post, content) = ("entry \(number)", entry.request.postData, entry.response.content)
        let messages = [
            ("request", entry.request.headers ?? [], post?.data, post?.mimeType),
            ("response", entry.response.headers ?? [], content?.data, content?.mimeType),
        ]
        return findings(in: place, url: entry.request.url, messages)
            + findings(in: entry.comment ?? "", "\(place), error", judgesRandom: false)
    }

    /// Searches an entry. Random text in its path isn't a finding, because a path is often random and has no name.
    ///
    /// - Parameter messages: the request and the response.
    func findings(
        in entry: String, url: String,
        _ messages: [(name: String, fields: [HAR.Field], body: Data?, mediaType: String?)]
    ) -> [Finding] {
        let items = findings(inItems: URLParts(url).query ?? "", "\(entry), URL")
        return (items.isEmpty ? findings(in: url, "\(entry), URL", judgesRandom: false) : items)
            + messages.flatMap { message in
                message.fields.flatMap { findings(inField: $0.name, $0.value, "\(entry), \(message.name)") }
                    + findings(inBody: message.body, message.mediaType, "\(entry), body of the \(message.name)")
            }
    }

    /// Searches a text without names.
    ///
    /// - Parameter judgesRandom: whether random text is a finding.
    func findings(in text: String, _ place: String, judgesRandom: Bool = true) -> [Finding] {
        findings(
            in: Array(text.utf8), hasSecret: !redaction.text(text).isSame(as: text), place, judgesRandom: judgesRandom)
    }

    private func findings(inField name: String, _ value: String, _ place: String) -> [Finding] {
        let place = "\(place), header \(Self.shown(name))"
        let name = HTTPHeaders.Name(name)
        guard redaction.names.isSecret(header: name), !value.holds(ArchiveRedaction.placeholder) else {
            let text = name == "Upload-Metadata" ? Self.decoded(value) : value
            return findings(in: text, place, judgesRandom: !Self.mayBeRandom(name))
        }
        return [Self.finding(place, "value of a secret name", value.utf8)]
    }

    /// Whether random text is expected in a field, as in a path. The names of AWS for bodies in chunks look like it.
    private static func mayBeRandom(_ name: HTTPHeaders.Name) -> Bool {
        [.digest, .condition].contains(name.fieldClass)
            || [.eTag, .location, .contentLocation, "Upload-Metadata"].contains(name)
    }

    /// Decodes the words in tus's metadata, as far as they are Base64.
    private static func decoded(_ metadata: String) -> String {
        let words = metadata.utf8.split { $0 == UInt8(ascii: ",") || $0 <= UInt8(ascii: " ") }
        return words.map { String(decoding: Data(base64Encoded: Data($0)) ?? Data($0), as: UTF8.self) }
            .joined(separator: " ")
    }

    /// Searches a query or a form.
    private func findings(inItems text: String, _ place: String) -> [Finding] {
        QueryParameters(escaped: text).flatMap { item -> [Finding] in
            let isSecret = item.name.isEmpty || redaction.names.isSecret(parameter: item.name)
            return findings(
                in: Array((item.value ?? "").utf8),
                hasSecret: isSecret && !["", ArchiveRedaction.placeholder].contains(item.value ?? ""),
                "\(place), \(Self.shown(item.name))")
        }
    }

    private func findings(inBody data: Data?, _ mediaType: String?, _ place: String) -> [Finding] {
        guard let data, !data.isEmpty else { return [] }
        let type = mediaType.flatMap { MediaType($0) }
        var found: [Finding] = []
        if type?.essence == MediaType.form.essence {
            let text = String(decoding: data, as: UTF8.self).replacingBytes(of: "+", with: "%20")
            found = findings(inItems: text, place)
        } else if let json = try? JSONDecoder().value(of: JSONValue.self, from: data) {
            var path: [String] = []
            search(json, redaction.redact(json, isSecret: false), &path, place, &found)
        }
        // A secret can be in a name, too.
        let hasSecret = redaction.body(data, mediaType: type, isSecret: false) != data
        return found.isEmpty ? findings(in: [UInt8](data), hasSecret: hasSecret, place) : found
    }

    /// Searches a JSON value, up to five findings.
    private func search(
        _ value: JSONValue, _ clean: JSONValue, _ path: inout [String], _ place: String, _ found: inout [Finding]
    ) {
        guard found.count < 5 else { return }
        switch (value, clean) {
        case (.object(let members), .object(let clean)):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                path.append(Self.shown(name))
                search(member, clean[name] ?? .null, &path, place, &found)
                path.removeLast()
            }
        case (.array(let elements), .array(let clean)):
            for (element, clean) in zip(elements, clean) { search(element, clean, &path, place, &found) }
        default:
            let text = if case .string(let text) = value { text } else { "" }
            found += findings(
                in: Array(text.utf8), hasSecret: value != clean, ([place] + path.suffix(8)).joined(separator: ", "))
        }
    }

    private func findings(
        in bytes: [UInt8], hasSecret: Bool, _ place: @autoclosure () -> String, judgesRandom: Bool = true
    ) -> [Finding] {
        if let (format, found) = Self.known(in: bytes) { return [Self.finding(place(), format.rule, found)] }
        if hasSecret { return [Self.finding(place(), "value of a secret name", bytes)] }
        let random = judgesRandom ? Self.random(in: bytes) : nil
        return random.map { [Self.finding(place(), "random text", $0)] } ?? []
    }

    private static func finding(_ place: String, _ rule: String, _ text: some Collection<UInt8>) -> Finding {
        (place, rule, "\(Redaction.visible(String(decoding: text.prefix(4), as: UTF8.self)))… (\(text.count) bytes)")
    }

    private static func shown(_ name: String) -> String {
        Redaction.visible(String(decoding: name.utf8.prefix(60), as: UTF8.self))
    }
}

extension ArchiveAudit {
    /// A format of secrets: how they begin, and what follows.
    private struct Format: Sendable {
        let rule: String
        let starts: [[UInt8]]
        let rest: @Sendable (UInt8) -> Bool
        /// The smallest number of bytes that follow.
        let length: Int
        /// Whether what follows the beginning, and the bytes after it, can belong to a secret.
        let accepts: @Sendable (_ found: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> Bool

        init(
            _ rule: String, _ starts: [String], _ more: String, _ length: Int,
            accepts: @escaping @Sendable (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Bool = { _, _ in true }
        ) {
            (self.rule, self.length, self.accepts) = (rule, length, accepts)
            self.starts = starts.map { Array($0.utf8) }
            rest = { isAlphanumeric($0) || more.utf8.contains($0) }
        }
    }

    private static let formats = [
        Format("JSON Web Token", ["eyJ"], "-_", 8) { isToken($1) },
        Format("credentials", ["Bearer ", "Basic ", "bearer ", "basic "], "._~+/=-", 8) { found, _ in
            // A word, or a parameter's name as in `Bearer resource_metadata="`, has neither digits nor capitals inside.
            found.prefix { $0 != UInt8(ascii: "=") }.dropFirst().contains { isDigit($0) || (0x41...0x5A).contains($0) }
        },
        Format("private key", ["PRIVATE KEY-----"], "", 0),
        Format("AWS access key", ["AKIA", "ASIA"], "", 16),
        Format("GitHub token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "", 20),
        Format("Slack token", "abeprs".unicodeScalars.map { "xox\($0)-" }, "-", 10),
        Format("Stripe key", ["rk_live_", "rk_test_", "sk_live_", "sk_test_"], "", 10),
        Format("API key", ["sk-"], "_-", 20),
        // Secrets in paths.
        Format("webhook URL", ["hooks.slack.com/services/", "/api/webhooks/"], "/_-", 20),
        Format("bot token", ["/bot"], ":_-", 40) { found, _ in found.contains(UInt8(ascii: ":")) },
        Format("Google API key", ["AIza"], "_-", 35),
    ]

    private static func known(in bytes: [UInt8]) -> (format: Format, found: ArraySlice<UInt8>)? {
        let firsts = Set(formats.flatMap { $0.starts.compactMap(\.first) })
        let isFirst = (UInt8.min...UInt8.max).map { firsts.contains($0) }
        var best: (index: Int, found: ArraySlice<UInt8>)?
        // Where each format's last run ends. A later start in it has fewer bytes left, so each byte is read once.
        var ends = formats.map { _ in 0 }
        for place in bytes.indices where isFirst[Int(bytes[place])] {
            for (index, format) in formats.enumerated() where index < best?.index ?? formats.count {
                guard place >= ends[index],
                    let start = format.starts.first(where: { bytes[place...].starts(with: $0) })
                else { continue }
                let end = bytes[(place + start.count)...].firstIndex { !format.rest($0) } ?? bytes.count
                ends[index] = end
                let isFound = end - place - start.count >= format.length
                if isFound, format.accepts(bytes[(place + start.count)..<end], bytes[end...]) {
                    best = (index, bytes[place..<end])
                }
            }
        }
        return best.map { (formats[$0.index], $0.found) }
    }

    /// Returns whether a token's second part and the point before the third one follow.
    private static func isToken(_ rest: ArraySlice<UInt8>) -> Bool {
        let point = UInt8(ascii: ".")
        guard rest.first == point else { return false }
        let end = rest.dropFirst().firstIndex { !(isAlphanumeric($0) || "-_".utf8.contains($0)) } ?? rest.endIndex
        return end - rest.startIndex > 8 && end < rest.endIndex && rest[end] == point
    }

    /// Returns the first run of at least 32 characters of Base64 that looks random. In a path, one segment must.
    private static func random(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        bytes.split(maxSplits: .max) { !(isAlphanumeric($0) || "+/_-".utf8.contains($0)) }.first { run in
            run.count >= 32 && isRandom(run)
                && run.split(separator: UInt8(ascii: "/")).contains { $0.count >= 16 && isMixed($0) }
        }
    }

    /// Returns whether the bytes have more than 4 bits of entropy each. Hexadecimal digits don't. The hyphens in a
    /// trace header don't count.
    private static func isRandom(_ run: ArraySlice<UInt8>) -> Bool {
        var counts = [Double](repeating: 0, count: 256)
        for byte in run where byte != UInt8(ascii: "-") { counts[Int(byte)] += 1 }
        let total = counts.reduce(0, +)
        return counts.reduce(0) { $1 == 0 ? $0 : $0 - $1 / total * log2($1 / total) } > 4
    }

    private static func isMixed(_ text: ArraySlice<UInt8>) -> Bool {
        text.contains { isDigit($0) } && text.contains { isAlphanumeric($0) && !isDigit($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
}
