// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The search for strings in an archive that are likely to be secrets.
///
/// In a text without names, the search returns at most one string: the one that matches the earliest rule.
extension ArchiveRedaction {
    /// Searches the entries, and the texts that a flight recorder has added.
    func findings(in archive: HAR) -> [Cassette.Finding] {
        archive.log.entries.enumerated().flatMap { findings(in: $1, "entry \($0 + 1)") }
            + (archive.log._flight?.loads ?? []).flatMap { load in
                (load.events ?? []).flatMap { findings(in: $0, "load \(load.load ?? 0), events", judgesRandom: false) }
            } + findings(in: archive.log._flight?.error ?? "", "error", judgesRandom: false)
    }

    /// Searches an entry, including its error. Random text in the path isn't a finding, because paths often contain
    /// identifiers.
    func findings(in entry: HAR.Entry, _ place: String) -> [Cassette.Finding] {
        let (url, request, response) = (entry.request.url, entry.request, entry.response)
        let items = findings(inItems: URLParts(url).query ?? "", "\(place), URL")
        return (items.isEmpty ? findings(in: url, "\(place), URL", judgesRandom: false) : items)
            + (request.headers ?? []).flatMap { findings(inField: $0, "\(place), request") }
            + findings(inBody: request.postData, "\(place), body of the request")
            + (response.headers ?? []).flatMap { findings(inField: $0, "\(place), response") }
            + findings(inBody: response.content, "\(place), body of the response")
            + findings(in: entry.comment ?? "", "\(place), error", judgesRandom: false)
    }

    /// Searches a text that has no names for its parts.
    ///
    /// - Parameter judgesRandom: whether random text is a finding.
    func findings(in text: String, _ place: String, judgesRandom: Bool = true) -> [Cassette.Finding] {
        findings(
            in: Array(text.utf8), hasSecret: !self.text(text).isSame(as: text), place, judgesRandom: judgesRandom)
    }

    private func findings(inField field: HAR.Field, _ place: String) -> [Cassette.Finding] {
        let (name, value) = (HTTPHeaders.Name(field.name), field.value ?? "")
        let place = "\(place), header \(Self.shown(field.name))"
        if names.isSecret(header: name), !value.holds(Self.placeholder) {
            return [Self.finding(place, "value of a secret name", value.utf8)]
        }
        // In some fields, random text is normal, as in a path. The checksum names that AWS uses for chunked bodies look
        // random, too.
        let isRandom =
            [.digest, .condition].contains(name.fieldClass) || [.eTag, .location, .contentLocation].contains(name)
        guard name == "Upload-Metadata" else { return findings(in: value, place, judgesRandom: !isRandom) }
        // tus encodes metadata in Base64.
        let words = value.utf8.split { $0 == UInt8(ascii: ",") || $0 <= UInt8(ascii: " ") }.map { Data($0) }
        let texts = words.map { String(decoding: Data(base64Encoded: $0) ?? $0, as: UTF8.self) }
        return findings(in: texts.joined(separator: " "), place, judgesRandom: false)
    }

    /// Searches the items of a query or of a form.
    private func findings(inItems text: String, _ place: String) -> [Cassette.Finding] {
        QueryParameters(escaped: text).flatMap { item -> [Cassette.Finding] in
            let (value, name) = (item.value ?? "", item.name)
            let isSecret = name.isEmpty || names.isSecret(parameter: name)
            return findings(
                in: Array(value.utf8), hasSecret: isSecret && !["", Self.placeholder].contains(value),
                "\(place), \(Self.shown(name))")
        }
    }

    private func findings(inBody body: HAR.Content?, _ place: String) -> [Cassette.Finding] {
        guard let body, let data = body.data, !data.isEmpty else { return [] }
        let type = body.mimeType.flatMap { MediaType($0) }
        var found: [Cassette.Finding] = []
        if type?.essence == MediaType.form.essence {
            let text = String(decoding: data, as: UTF8.self).replacingBytes(of: "+", with: "%20")
            found = findings(inItems: text, place)
        } else if let json = try? JSONDecoder().value(of: JSONValue.self, from: data) {
            var path = [place]
            search(json, redact(json, isSecret: false), &path, &found)
        }
        // A name can contain a secret as well as a value can.
        let hasSecret = self.body(data, mediaType: type, isSecret: false) != data
        return found.isEmpty ? findings(in: [UInt8](data), hasSecret: hasSecret, place) : found
    }

    /// Searches a JSON value until there are five findings.
    private func search(
        _ value: JSONValue, _ clean: JSONValue, _ path: inout [String], _ found: inout [Cassette.Finding]
    ) {
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
    ) -> [Cassette.Finding] {
        if let (format, found) = Self.known(in: bytes) { return [Self.finding(place(), format.rule, found)] }
        if hasSecret { return [Self.finding(place(), "value of a secret name", bytes)] }
        let random = judgesRandom ? Self.random(in: bytes) : nil
        return random.map { [Self.finding(place(), "random text", $0)] } ?? []
    }

    private static func finding(_ place: String, _ rule: String, _ text: some Collection<UInt8>) -> Cassette.Finding {
        let start = Redaction.visible(String(decoding: text.prefix(4), as: UTF8.self))
        return Cassette.Finding(place: place, rule: rule, excerpt: "\(start)… (\(text.count) bytes)")
    }

    private static func shown(_ name: String) -> String {
        Redaction.visible(String(decoding: name.utf8.prefix(60), as: UTF8.self))
    }
}

extension ArchiveRedaction {
    /// A format of secrets: the strings that they begin with, the characters that can follow in addition to letters and
    /// digits, and the minimum number of these characters.
    ///
    /// The closure `accepts` receives the characters and the bytes after them. It returns whether they can belong to a
    /// secret.
    private typealias Format = (
        rule: String, starts: [String], more: String, length: Int,
        accepts: @Sendable (_ found: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> Bool
    )

    private static let formats: [Format] = [
        ("JSON Web Token", ["eyJ"], "-_", 8, { isToken($1) }),
        (
            "credentials", ["Bearer ", "Basic ", "bearer ", "basic "], "._~+/=-", 8,
            // A word has neither digits nor capitals after its first letter. Neither does a parameter name, as in
            // `Bearer resource_metadata="`.
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
        // Secrets in URL paths.
        ("webhook URL", ["hooks.slack.com/services/", "/api/webhooks/"], "/_-", 20, { _, _ in true }),
        ("bot token", ["/bot"], ":_-", 40, { found, _ in found.contains(UInt8(ascii: ":")) }),
        ("Google API key", ["AIza"], "_-", 35, { _, _ in true }),
    ]

    private static func known(in bytes: [UInt8]) -> (format: Format, found: ArraySlice<UInt8>)? {
        let firsts = Set(formats.flatMap { $0.starts.compactMap(\.utf8.first) })
        let isFirst = (UInt8.min...UInt8.max).map { firsts.contains($0) }
        var best: (index: Int, found: ArraySlice<UInt8>)?
        // For each format, the end of the last run. A start inside that run would be followed by fewer characters, so
        // it is skipped. Each byte is therefore read once.
        var ends = formats.map { _ in 0 }
        for place in bytes.indices where isFirst[Int(bytes[place])] {
            for (index, format) in formats.enumerated() where index < best?.index ?? formats.count {
                guard place >= ends[index],
                    let start = format.starts.first(where: { bytes[place...].starts(with: $0.utf8) })?.utf8
                else { continue }
                let end = bytes[(place + start.count)...].firstIndex { !isIn($0, format.more) } ?? bytes.count
                ends[index] = end
                let found = bytes[(place + start.count)..<end]
                guard found.count >= format.length, format.accepts(found, bytes[end...]) else { continue }
                best = (index, bytes[place..<end])
            }
        }
        return best.map { (formats[$0.index], $0.found) }
    }

    /// Returns whether the second part of a token follows, and the point before the third part.
    private static func isToken(_ rest: ArraySlice<UInt8>) -> Bool {
        let point = UInt8(ascii: ".")
        guard rest.first == point else { return false }
        let end = rest.dropFirst().firstIndex { !isIn($0, "-_") } ?? rest.endIndex
        return end - rest.startIndex > 8 && end < rest.endIndex && rest[end] == point
    }

    /// Returns the first run of at least 32 Base64 characters that looks random. In a path, at least one segment must
    /// look random.
    private static func random(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        bytes.split(maxSplits: .max) { !isIn($0, "+/_-") }.first { run in
            run.count >= 32 && isRandom(run)
                && run.split(separator: UInt8(ascii: "/")).contains { segment in
                    segment.count >= 16 && segment.contains(where: isDigit)
                        && segment.contains { isIn($0, "") && !isDigit($0) }
                }
        }
    }

    /// Returns whether the bytes have more than 4 bits of entropy each. Hexadecimal digits have less. Hyphens aren't
    /// counted, so trace headers have less, too.
    private static func isRandom(_ run: ArraySlice<UInt8>) -> Bool {
        var counts = [Double](repeating: 0, count: 256)
        for byte in run where byte != UInt8(ascii: "-") { counts[Int(byte)] += 1 }
        let total = counts.reduce(0, +)
        return counts.reduce(0) { $1 == 0 ? $0 : $0 - $1 / total * log2($1 / total) } > 4
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns whether a byte is a letter, a digit, or one of the other characters.
    private static func isIn(_ byte: UInt8, _ others: String) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || others.utf8.contains(byte)
    }
}
