import Foundation

extension HTTPRequest {
    /// Returns a curl command for a POSIX shell that sends the same request.
    ///
    /// ```swift
    /// print(try StandardRequestBuilder(GetUser(login: "ada").environment(.production)).request().curlCommand())
    /// // curl --header User-Agent: --header Accept: https://api.example.com/users/ada
    /// ```
    ///
    /// The command sends exactly the headers of the request: it suppresses the headers that curl would add. What the
    /// links of a client add, such as credentials, is part of the command only if the request has passed the links, as
    /// in `response.request.curlCommand()`. A file is sent as `@path`. A multipart form is sent with `--form` if all
    /// its parts are text or files that curl can send in this way; curl then chooses the boundary. Any other multipart
    /// body is sent as data, or is redacted if the command contains no secrets. Binary data is piped from `printf`. A
    /// body that is produced while it is sent is read from standard input.
    ///
    /// - Parameter includingSecrets: whether the command contains secrets. Default: false (secrets are redacted as
    ///   described in ``Redaction``).
    public func curlCommand(includingSecrets: Bool = false) -> String {
        CurlCommand(completed, includingSecrets: includingSecrets).text
    }
}

/// Creates a curl command.
private struct CurlCommand {
    private let request: HTTPRequest
    private let showsSecrets: Bool
    private var words = ["curl"]
    /// The command that prints the body.
    private var input: String?

    init(_ request: HTTPRequest, includingSecrets: Bool) {
        (self.request, showsSecrets) = (request, includingSecrets)
        addMethod()
        let isForm = addBody()
        addHeaders(isForm: isForm)
        addURL()
    }

    var text: String { (input.map { $0 + " | " } ?? "") + words.joined(separator: " ") }

    private mutating func add(_ words: String...) { self.words += words.map(Shell.word) }

    private mutating func addMethod() {
        if request.method == .head { return add("--head") }
        if request.method != .get || !request.body.isEmpty { add("--request", request.method.shown) }
    }

    private mutating func addURL() {
        let url = (showsSecrets ? try? request.urlString() : nil) ?? request.redaction.url(of: request)
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { add("--globoff") }
        if url.contains("/.") { add("--path-as-is") }
        // Without `--url`, a URL that begins with a hyphen would be parsed as an option.
        add("--url", url)
        if !url.hasPrefix("-") { words.remove(at: words.count - 2) }
    }

    private mutating func addHeaders(isForm: Bool) {
        let headers = request.framedHeaders()
        for field in headers where !(isForm && field.name == .contentType) {
            let value = showsSecrets ? field.value : request.redaction.value(of: field)
            add("--header", value.isEmpty ? "\(field.name.rawValue);" : "\(field.name.rawValue): \(value)")
        }
        // Headers that curl adds unless they are removed.
        var own: [HTTPHeaders.Name] = [.userAgent, .accept]
        if hasData { own += [.contentType, .expect] }
        for name in own where !headers.contains(name) { add("--header", "\(name.rawValue):") }
    }

    private var hasData: Bool { words.contains { $0.hasPrefix("--data") } }
}

// MARK: Bodies

extension CurlCommand {
    /// Adds the body. Returns true if it is a form, whose Content-Type curl writes.
    private mutating func addBody() -> Bool {
        let body = request.body
        if body.isEmpty {
            if request.method.expectsBody { add("--data-raw", "") }
            return false
        }
        if !showsSecrets, request.isSecret {
            add("--data-raw", Redaction.mark)
            return false
        }
        if let file = body as? FileBody {
            add("--data-binary", "@\(file.url.path)")
            return false
        }
        if let form = (body as? MultipartBody).flatMap(words(of:)) {
            words += form
            return true
        }
        if body.isReplayable, let data = try? body.encode() {
            addData(data)
        } else {
            add("--data-binary", "@-")
        }
        return false
    }

    private mutating func addData(_ data: Data) {
        let headers = request.framedHeaders()
        let redacted = showsSecrets ? nil : request.redaction.redacted(data, headers: headers)
        if !showsSecrets, redacted == nil, Redaction.hidesText(headers) { return add("--data-raw", Redaction.mark) }
        let bytes = redacted.map { Data($0.utf8) } ?? data
        if bytes.count <= Self.longestWord, let text = String(data: bytes, encoding: .utf8), Shell.isWord(text) {
            add("--data-raw", text)
        } else {
            add("--data-binary", "@-")
            input = Shell.printing(bytes)
        }
    }

    /// The number of bytes that Linux accepts as one argument, less some space for the name of an option.
    private static let longestWord = 120 << 10

    /// Returns the words for a form; nil if a part has headers that curl cannot write, or binary content.
    private func words(of body: MultipartBody) -> [String]? {
        guard body.isForm, request.headers[.contentType] == nil, !body.parts.isEmpty else { return nil }
        var words: [String] = []
        for part in body.parts {
            guard let (name, filename) = part.fields.form, !name.contains("="),
                [name, filename ?? "", part.fields.type ?? ""].allSatisfy(Shell.isWord),
                let content = content(of: part, named: name)
            else { return nil }
            let hasFields = filename != nil || part.fields.type != nil
            if case .text(let text) = content, !hasFields {
                words += ["--form-string", Shell.word("\(name)=\(text)")]
                continue
            }
            var word = "\(name)=\(content.quoted)"
            if let filename { word += ";filename=\(FormContent.quoted(filename))" }
            if let type = part.fields.type { word += ";type=\(type)" }
            words += ["--form", Shell.word(word)]
        }
        return words
    }

    private enum FormContent {
        case text(String)
        case file(String)

        var quoted: String {
            switch self {
            case .text(let text): Self.quoted(text)
            case .file(let path): "@" + Self.quoted(path)
            }
        }

        static func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
    }

    private func content(of part: MultipartPart, named name: String) -> FormContent? {
        if !showsSecrets, request.redaction.isSecret(parameter: name) { return .text(Redaction.mark) }
        let text: String?
        switch part.content {
        case .text(let content): text = content
        case .body(let body as FileBody): return .file(body.url.path)
        case .data(let data): text = String(data: data, encoding: .utf8)
        case .body, .pulled: text = nil
        }
        guard let text, Shell.isWord(text), text.utf8.count < Self.longestWord else { return nil }
        guard !showsSecrets else { return .text(text) }
        let headers: HTTPHeaders = part.fields.type.map { [.contentType: $0] } ?? [:]
        return .text(request.redaction.redacted(Data(text.utf8), headers: headers) ?? Redaction.mark)
    }
}
