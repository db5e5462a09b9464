// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

extension HTTPRequest {
    /// Returns a curl command that sends this request from a POSIX shell, for a bug report or to try it by hand.
    ///
    /// ```swift
    /// print(try StandardRequestBuilder(GetUser(login: "ada").environment(.production)).request().curlCommand())
    /// // curl --header User-Agent: --header Accept: https://api.example.com/users/ada
    /// ```
    ///
    /// The command sends exactly the request headers: it suppresses those that curl would add. Client links add more
    /// headers, such as credentials. To include them, use `response.request.curlCommand()`. Secrets are redacted
    /// (`Redaction`) unless you include them.
    ///
    /// How curl receives the body depends on its kind:
    ///
    /// - A file becomes `@path`, and binary data is piped from `printf`.
    /// - A body that is produced during sending isn't part of the command: curl reads it from standard input.
    /// - A multipart form becomes `--form`, if its parts are text or files, and their media types have no parameter
    ///   except `charset`. curl chooses the boundary.
    /// - Any other multipart body becomes data, and is redacted unless you include secrets.
    ///
    /// - Parameters:
    ///   - includingSecrets: whether the command contains secrets. Default: false.
    ///   - onLines: whether each option is on a separate line, for a text that people compare. Default: false.
    public func curlCommand(includingSecrets: Bool = false, onLines: Bool = false) -> String {
        CurlCommand(completed, includingSecrets: includingSecrets).text(separator: onLines ? " \\\n  " : " ")
    }
}

private struct CurlCommand {
    private let request: HTTPRequest
    private let showsSecrets: Bool
    /// The program, and each option with its argument.
    private var words = ["curl"]
    /// The command that prints the body.
    private var input: String?
    private var hasData = false

    init(_ request: HTTPRequest, includingSecrets: Bool) {
        (self.request, showsSecrets) = (request, includingSecrets)
        addMethod()
        let isForm = addBody()
        addHeaders(isForm: isForm)
        addURL()
    }

    func text(separator: String) -> String { (input.map { $0 + " | " } ?? "") + words.joined(separator: separator) }

    private mutating func add(_ words: String...) { self.words.append(words.map(Shell.word).joined(separator: " ")) }

    private mutating func addMethod() {
        if request.method == .head { return add("--head") }
        if request.method != .get || !request.body.isEmpty { add("--request", request.method.printable) }
    }

    private mutating func addURL() {
        let url = (showsSecrets ? try? request.urlString() : nil) ?? request.redaction.url(of: request)
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { add("--globoff") }
        if url.holds("/.") { add("--path-as-is") }
        // Without `--url`, a URL that begins with a hyphen would be parsed as an option.
        if url.begins(with: "-") { add("--url", url) } else { add(url) }
    }

    private mutating func addHeaders(isForm: Bool) {
        let headers = request.framedHeaders()
        for field in headers where !(isForm && field.name == .contentType) {
            // A malformed field can't be sent. curl would read a name that begins with `@` as a file path.
            let name = ASCII.isToken(field.name.rawValue) ? field.name.rawValue : "(refused name)"
            let shown = ASCII.isFieldValue(field.value) ? field.value : Redaction.visible(field.value)
            let value = showsSecrets ? shown : request.redaction.value(of: field)
            add("--header", ASCII.trimmed(value).isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // Headers that curl adds unless they are removed.
        var own: [HTTPHeaders.Name] = [.userAgent, .accept]
        if hasData { own += [.contentType, .expect] }
        for name in own where !headers.contains(name) { add("--header", "\(name.rawValue):") }
    }
}

// MARK: Bodies

extension CurlCommand {
    /// Adds the body. Returns true for a form: curl then writes the Content-Type itself.
    private mutating func addBody() -> Bool {
        let body = request.describedBody
        if body.isEmpty {
            if request.method.expectsBody { addData("--data-raw", "") }
        } else if !showsSecrets, request.isSecret {
            addData("--data-raw", Redaction.placeholder)
        } else if let file = body as? FileBody, file.range == nil {
            addData("--data-binary", "@\(file.url.path)")
        } else if let form = (body as? MultipartBody).flatMap(words(of:)) {
            words += form
            return true
        } else if body.isReplayable, let data = try? body.encode() {
            addData(data)
        } else {
            addData("--data-binary", "@-")
        }
        return false
    }

    private mutating func addData(_ option: String, _ word: String) {
        hasData = true
        add(option, word)
    }

    private mutating func addData(_ data: Data) {
        let headers = request.framedHeaders()
        let redacted = showsSecrets ? nil : request.redaction.redacted(data, headers: headers)
        if !showsSecrets, redacted == nil, Redaction.hidesText(headers) {
            return addData("--data-raw", Redaction.placeholder)
        }
        let bytes = redacted.map { Data($0.utf8) } ?? data
        if bytes.count <= Self.longestWord, let text = String(validating: bytes, as: UTF8.self), Shell.isWord(text) {
            addData("--data-raw", text)
        } else {
            addData("--data-binary", "@-")
            input = Shell.printing(bytes)
        }
    }

    /// The longest argument that Linux accepts, in bytes, less some space for the option name.
    private static let longestWord = 120 << 10

    /// Returns the options for a form, or nil if a part has binary content or headers that curl can't write.
    private func words(of body: MultipartBody) -> [String]? {
        guard body.isForm, request.headers[.contentType] == nil, !body.parts.isEmpty else { return nil }
        var words: [String] = []
        for part in body.parts {
            guard let (option, word) = word(of: part), word.utf8.count <= Self.longestWord, Shell.isWord(word) else {
                return nil
            }
            words.append("\(option) \(Shell.word(word))")
        }
        return words
    }

    /// Returns the option and the argument for one part. curl searches the argument of `--form` for `;headers=@file`
    /// and other fields. Quotation marks prevent that, except in a media type.
    private func word(of part: MultipartBody.Part) -> (option: String, word: String)? {
        guard let (name, filename, type) = part.form, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")),
            Self.isSame(name), Self.isSame(filename ?? ""), type.map(Self.isPlain(type:)) != false,
            let content = content(of: part, named: name, type: type)
        else { return nil }
        if case .text(let text) = content, filename == nil, type == nil {
            return ("--form-string", "\(name)=\(text)")
        }
        var word = "\(name)="
        switch content {
        case .text(let text): word += ASCII.quoted(text)
        // With `@`, curl adds a filename if there is none.
        case .file(let path): word += (filename == nil ? "<" : "@") + ASCII.quoted(path)
        }
        if let filename { word += ";filename=" + ASCII.quoted(filename) }
        if let type { word += ";type=" + type }
        return ("--form", word)
    }

    /// Returns whether all versions of curl write a name as the library does. They escape some characters in different
    /// ways.
    private static func isSame(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && !"\"\\".utf8.contains($0) }
    }

    /// Returns whether curl reads a media type as a whole. Its only parameter may be a `charset` with a token. In a
    /// media type, curl ignores quotation marks and takes a comma as the beginning of the next file.
    private static func isPlain(type: String) -> Bool {
        guard let parsed = MediaType(type), parsed.essence.utf8.count < 128 else { return false }
        guard let charset = parsed.parameters.first?.value else { return ASCII.equalIgnoringCase(type, parsed.essence) }
        let spellings = [";charset=", "; charset="].flatMap { [$0 + charset, $0 + "\"\(charset)\""] }
        return ASCII.isToken(charset)
            && spellings.contains { ASCII.equalIgnoringCase(type, parsed.essence + $0) }
    }

    private enum FormContent {
        case text(String)
        case file(String)
    }

    private func content(of part: MultipartBody.Part, named name: String, type: String?) -> FormContent? {
        if !showsSecrets, request.redaction.isSecret(parameter: name) { return .text(Redaction.placeholder) }
        if let file = part.body as? FileBody, file.range == nil { return .file(file.url.path) }
        guard let data = (part.body as? DataBody)?.data, let text = String(validating: data, as: UTF8.self) else {
            return nil
        }
        guard !showsSecrets else { return .text(text) }
        let headers: HTTPHeaders = type.map { [.contentType: $0] } ?? [:]
        return .text(request.redaction.redacted(Data(text.utf8), headers: headers) ?? Redaction.placeholder)
    }
}

/// Words and commands for a POSIX shell (IEEE Std 1003.1, 2.2).
enum Shell {
    /// Quotes a string so that the shell reads it as exactly one word. The string must not contain NUL.
    static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy(isPlain)
        return isPlain ? text : "'" + text.replacingBytes(of: "'", with: #"'\''"#) + "'"
    }

    static func printing(_ bytes: some Sequence<UInt8>) -> String {
        var text = "printf %b '"
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): text += #"\\"#
            case 0x20...0x7E where byte != UInt8(ascii: "'"): text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += #"\0"# + String(byte, radix: 8).padded(to: 3)
            }
        }
        return text + "'"
    }

    /// Returns whether a string can be pasted as a word. A terminal could interpret control characters, so only line
    /// breaks and tabs are allowed.
    static func isWord(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) || $0 == "\n" || $0 == "\t"
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || "-_./:@%+=,".utf8.contains(byte)
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - utf8.count)) + self
    }
}
