// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// Many multipart bodies and what is in them, for parsers that others wrote.
struct MultipartCorpus {
    struct Case: Encodable {
        let file: String
        let type: String
        let parts: [Part]
    }

    struct Part: Encodable {
        let name: String
        let filename: String?
        let content: Data
    }

    private static let names = [
        "plain", "two words", "a\"b", "\"\"", "a\r\nb", "a\rb", "a\nb", "a\\b", "\\\"", "a\0b", "é", "名前", "🌎", "a;b",
        "a=b", "a%22b", "100%", "'a'", "a:b", "a, b", "files[]", "user[name]", "<a>", "a&b", "x\"; filename=\"y",
        "x\r\nX-Injected: 1", "*", "name*", String(repeating: "long", count: 40),
    ]
    private static let filenames = [
        "a.txt", "a b.txt", "q\"uote.txt", "new\r\nline.bin", "cr\r.bin", "lf\n.bin", "é.png", "文書.pdf", "🌎.gif",
        "semi;colon.txt", "100%.txt", "%22.txt", "a'b.txt", "noextension", ".hidden", "two..dots", "a\\\"b.txt",
    ]
    private static let contents: [Data] =
        [
            "", "hi", "é🌎", "\r\n", "\n", "\r", "\r\n\r\n", "a\r\n", "\r\na", "--", "----", "\r\n--", "\r\n--\r\n",
            "\r\n----\r\n", "--boundary", "\r\n--boundary--\r\n", "a\nb\rc\r\nd", "Content-Type: text/html\r\n\r\n<b>",
            "a=b&c=d", "\0", "-", String(repeating: "-", count: 300),
        ].map { Data($0.utf8) } + [noise(1), noise(257), noise(5000), noise(70_000)]

    /// 330 bodies: every name with every kind of content in turn, no parts, and a hundred parts.
    static func bodies() -> [[Part]] {
        let single = (0..<200).map { [part($0)] }
        let several = (0..<120).map { index in (0..<(2 + index % 6)).map { part(index * 7 + $0 * 13) } }
        let many = (0..<8).map { index in (0..<100).map { part(index * 31 + $0) } }
        return [[], []] + single + several + many
    }

    /// Writes them, and a manifest beside them.
    static func write(to directory: URL) throws -> Int {
        var cases: [Case] = []
        for parts in bodies() {
            // What looks like a delimiter must not be one: a boundary of the library's own, or one that is nearly
            // there.
            let sent = parts.map { MultipartBody.Part.data($0.content, name: $0.name, filename: $0.filename) }
            let body =
                cases.count % 3 == 0
                ? MultipartBody(sent, boundary: "boundary\(cases.count)-nearly") : MultipartBody(sent)
            let file = "\(cases.count).body"
            try body.encode().write(to: directory.appendingPathComponent(file))
            cases.append(Case(file: file, type: body.additionalHeaders[.contentType] ?? "", parts: parts.map(received)))
        }
        try JSONEncoder().encode(cases).write(to: directory.appendingPathComponent("manifest.json"))
        return cases.count
    }

    private static func part(_ index: Int) -> Part {
        Part(
            name: names[index % names.count],
            filename: index % 2 == 0 ? filenames[index / 2 % filenames.count] : nil,
            content: contents[index % contents.count])
    }

    /// What a parser finds: a lone CR or LF of a name is sent as both (HTML, 4.10.21.8).
    private static func received(_ part: Part) -> Part {
        var name = ""
        for character in part.name { name += character == "\r" || character == "\n" ? "\r\n" : String(character) }
        return Part(name: name, filename: part.filename, content: part.content)
    }
}
