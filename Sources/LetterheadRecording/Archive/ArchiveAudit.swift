// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Searches an archive for strings that are likely to be secrets.
///
/// A method finds at most one string in a text without names: the one that matches the earliest rule.
struct ArchiveAudit: Sendable {
    typealias Finding = Cassette.Finding

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
                message.fields.flatMap { findings(inField: $0, "\(entry), \(message.name)") }
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

    private func findings(inField field: HAR.Field, _ place: String) -> [Finding] {
        let (name, value) = (HTTPHeaders.Name(field.name), field.value ?? "")
        let isSecret = redaction.names.isSecret(header: name) && !value.holds(ArchiveRedaction.placeholder)
        // tus writes metadata in Base64.
        let words = value.utf8.split { $0 == UInt8(ascii: ",") || $0 <= UInt8(ascii: " ") }.map { Data($0) }
        let text =
            name != "Upload-Metadata"
            ? value
            : words.map { String(decoding: Data(base64Encoded: $0) ?? $0, as: UTF8.self) }.joined(separator: " ")
        // Random text is expected in some fields, as in a path. The names of AWS for bodies in chunks look like it.
        let mayBeRandom =
            [.digest, .condition].contains(name.fieldClass)
            || [.eTag, .location, .contentLocation, "Upload-Metadata"].contains(name)
        let (shown, place) = (Self.shown(field.name), "\(place), header ")
        return isSecret
            ? [Self.finding(place + shown, "value of a secret name", value.utf8)]
            : findings(in: text, place + shown, judgesRandom: !mayBeRandom)
    }

    /// Searches a query or a form.
    private func findings(inItems text: String, _ place: String) -> [Finding] {
        QueryParameters(escaped: text).flatMap { item -> [Finding] in
            let (value, name) = (item.value ?? "", item.name)
            let isSecret = name.isEmpty || redaction.names.isSecret(parameter: name)
            return findings(
                in: Array(value.utf8), hasSecret: isSecret && !["", ArchiveRedaction.placeholder].contains(value),
                "\(place), \(Self.shown(name))")
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
            var path = [place]
            search(json, redaction.redact(json, isSecret: false), &path, &found)
        }
        // A secret can be in a name, too.
        let hasSecret = redaction.body(data, mediaType: type, isSecret: false) != data
        return found.isEmpty ? findings(in: [UInt8](data), hasSecret: hasSecret, place) : found
    }

    /// Searches a JSON value, up to five findings.
    private func search(_ value: JSONValue, _ clean: JSONValue, _ path: inout [String], _ found: inout [Finding]) {
        guard found.count < 5 else { return }
        switch (value, clean) {
        case (.object(let members), .object(let clean)):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                path.append(Self.shown(name))
                search(member, clean[name] ?? .null, &path, &found)
                path.removeLast()
            }
        case (.array(let elements), .array(let clean)):
            for (element, clean) in zip(elements, clean) { search(element, clean, &path, &found) }
        default:
            let text = if case .string(let text) = value { text } else { "" }
            let place = path.prefix(1) + path.dropFirst().suffix(8)
            found += findings(in: Array(text.utf8), hasSecret: value != clean, place.joined(separator: ", "))
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
        let start = Redaction.visible(String(decoding: text.prefix(4), as: UTF8.self))
        return Finding(place: place, rule: rule, excerpt: "\(start)… (\(text.count) bytes)")
    }

    private static func shown(_ name: String) -> String {
        Redaction.visible(String(decoding: name.utf8.prefix(60), as: UTF8.self))
    }
}

extension ArchiveAudit {
    /// A format of secrets: how they begin, which characters follow beside letters and digits, and at least how many.
    /// `accepts` tells whether what follows the beginning, and the bytes after it, can belong to a secret.
    private typealias Format = (
        rule: String, starts: [String], more: String, length: Int,
        accepts: @Sendable (_ found: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> Bool
    )

    private static let formats: [Format] = [
        ("JSON Web Token", ["eyJ"], "-_", 8, { isToken($1) }),
        (
            "credentials", ["Bearer ", "Basic ", "bearer ", "basic "], "._~+/=-", 8,
            // A word, or a parameter's name as in `Bearer resource_metadata="`, has neither digits nor capitals inside.
            { found, _ in
                let word = found.prefix { $0 != UInt8(ascii: "=") }
                return word.dropFirst().contains { isDigit($0) || (0x41...0x5A).contains($0) }
            }
        ),
        ("private key", ["PRIVATE KEY-----"], "", 0, { _, _ in true }),
        ("AWS access key", ["AKIA", "ASIA"], "", 16, { _, _ in true }),
        ("GitHub token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "", 20, { _, _ in true }),
        ("Slack token", "abeprs".unicodeScalars.map { "xox\($0)-" }, "-", 10, { _, _ in true }),
        ("Stripe key", ["rk_live_", "rk_test_", "sk_live_", "sk_test_"], "", 10, { _, _ in true }),
        ("API key", ["sk-"], "_-", 20, { _, _ in true }),
        // Secrets in paths.
        ("webhook URL", ["hooks.slack.com/services/", "/api/webhooks/"], "/_-", 20, { _, _ in true }),
        ("bot token", ["/bot"], ":_-", 40, { found, _ in found.contains(UInt8(ascii: ":")) }),
        ("Google API key", ["AIza"], "_-", 35, { _, _ in true }),
    ]

    private static func known(in bytes: [UInt8]) -> (format: Format, found: ArraySlice<UInt8>)? {
        let firsts = Set(formats.flatMap { $0.starts.compactMap(\.utf8.first) })
        let isFirst = (UInt8.min...UInt8.max).map { firsts.contains($0) }
        var best: (index: Int, found: ArraySlice<UInt8>)?
        // Where each format's last run ends. A later start in it has fewer bytes left, so each byte is read once.
        var ends = formats.map { _ in 0 }
        for place in bytes.indices where isFirst[Int(bytes[place])] {
            for (index, format) in formats.enumerated() where index < best?.index ?? formats.count {
                guard place >= ends[index],
                    let start = format.starts.first(where: { bytes[place...].starts(with: $0.utf8) })?.utf8
                else { continue }
                let end = bytes[(place + start.count)...].firstIndex { !isIn($0, format.more) } ?? bytes.count
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
        let end = rest.dropFirst().firstIndex { !isIn($0, "-_") } ?? rest.endIndex
        return end - rest.startIndex > 8 && end < rest.endIndex && rest[end] == point
    }

    /// Returns the first run of at least 32 characters of Base64 that looks random. In a path, one segment must.
    private static func random(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        bytes.split(maxSplits: .max) { !isIn($0, "+/_-") }.first { run in
            run.count >= 32 && isRandom(run)
                && run.split(separator: UInt8(ascii: "/")).contains { segment in
                    segment.count >= 16 && segment.contains(where: isDigit)
                        && segment.contains { isIn($0, "") && !isDigit($0) }
                }
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

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns whether a byte is a letter, a digit, or one of some others.
    private static func isIn(_ byte: UInt8, _ others: String) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || others.utf8.contains(byte)
    }
}
