// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation
import LetterheadObserving

/// The text of a request, which a test compares with a file.
///
/// ```swift
/// _ = try await client.send(CreateUser(user: ada))
/// try RequestSnapshot(stubs.requests[0]).check()
/// ```
///
/// The text contains what a transport would send: the method, the URL, the headers of the request and of its body, and
/// the body. A JSON body is indented, with its members in alphabetical order. Secrets are replaced by `REDACTED`. The
/// boundary of a multipart body, idempotency keys and trace headers differ in each run, so they are replaced by fixed
/// placeholders.
public struct RequestSnapshot: Sendable, CustomStringConvertible {
    /// The format of a snapshot.
    public enum Format: String, Sendable {
        /// The format of `.http` files: the request line, the headers, an empty line, the body.
        case http
        /// An HTTP Archive (HAR 1.2) with one entry without a response.
        case har
        /// A curl command for a POSIX shell, with one option on each line. See `HTTPRequest.curlCommand()`. A header that
        /// curl would add and the request does not have is removed by an option with its name only.
        case curl
    }

    /// The text.
    public let text: String
    /// The format of the text, which is also the extension of its file.
    public let format: Format

    /// Creates the snapshot of a request: one that a mock received, or one from a builder.
    ///
    /// - Parameters:
    ///   - request: the request. If its body can be sent only once or is not in memory, a snapshot in the format
    ///     `.http` or `.har` contains only the type of the body. For `.curl`, see `HTTPRequest.curlCommand()`.
    ///   - format: the format. Default: `.http`.
    ///   - redaction: the names of secrets. Default: the standard names.
    /// - Throws: `.invalidRequest` if the body cannot be encoded.
    public init(
        _ request: HTTPRequest, format: Format = .http, redaction: Redaction = .standard
    ) throws(HTTPError) {
        let parts = try SnapshotParts(request, CassetteRedaction(names: redaction))
        self.format = format
        switch format {
        case .http: text = parts.http
        case .har: text = parts.har
        case .curl: text = parts.curl(request, redaction)
        }
    }

    /// The same as ``text``.
    public var description: String { text }
}

/// The parts of a request in a snapshot.
struct SnapshotParts {
    static let volatile = "VOLATILE"

    let method: String
    let url: String
    let fields: [HAR.Field]
    let body: String
    let encoding: String?
    let boundary: String?

    init(_ request: HTTPRequest, _ redaction: CassetteRedaction) throws(HTTPError) {
        let redaction = redaction.adding(request.redaction)
        method = "\(request.method)"
        let shown = request.redaction.url(of: request)
        url = redaction.text(shown.replacingBytes(of: Redaction.placeholder, with: CassetteRedaction.placeholder))
        let headers = request.framedHeaders()
        boundary = headers[.contentType].flatMap { MediaType($0) }?["boundary"]
        fields = redaction.fields(headers).map { [boundary] field in
            var field = field
            if VolatileHeaders.contain(HTTPHeaders.Name(field.name)) { field.value = Self.volatile }
            if let boundary { field.value = field.value.replacingBytes(of: boundary, with: "boundary") }
            return field
        }
        guard !request.body.isEmpty else {
            (body, encoding) = ("", nil)
            return
        }
        guard let data = try request.framedBody().data else {
            (body, encoding) = ("(\(type(of: request.body)))", nil)
            return
        }
        let type = headers[.contentType].flatMap { MediaType($0) }
        let clean = redaction.body(
            data, mediaType: type, isSecret: request.isSecret || headers.contains(.contentEncoding))
        let (text, encoding) = HAR.text(of: clean.replacingBoundary(boundary))
        self.encoding = encoding
        body = Self.indented(clean, type) ?? text
    }

    var http: String {
        var lines = ["\(method) \(url) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        if !body.isEmpty { lines += ["", body.replacingBytes(of: "\r\n", with: "\n")] }
        return lines.joined(separator: "\n") + "\n"
    }

    var har: String {
        var request = HAR.Request(method: method, url: url, headers: fields)
        if !body.isEmpty {
            let type = fields.first { ASCII.keyword($0.name) == "content-type" }?.value
            request.postData = HAR.PostData(mimeType: type ?? "", text: body, encoding: encoding)
        }
        request.queryString = HAR.queryItems(of: url)
        var archive = HAR()
        let response = HAR.Response(status: 0, content: HAR.Content(size: 0, mimeType: "x-unknown"))
        archive.log.entries = [
            HAR.Entry(startedDateTime: "1970-01-01T00:00:00.000Z", time: 0, request: request, response: response)
        ]
        return ((try? JSONEncoder.indenting.encode(archive)).map { String(decoding: $0, as: UTF8.self) } ?? "") + "\n"
    }

    static func indented(_ data: Data, _ type: MediaType?) -> String? {
        guard type?.isJSON == true, let json = try? JSONDecoder().decode(JSONValue.self, from: data) else { return nil }
        return (try? JSONEncoder.indenting.encode(json)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension SnapshotParts {
    /// Returns the curl command of a request, with one option on each line, which shells and people can read.
    func curl(_ request: HTTPRequest, _ redaction: Redaction) -> String {
        var request = request
        request.redaction = request.redaction.adding(headers: redaction.headers, parameters: redaction.parameters)
        let headers = request.framedHeaders()
        for field in headers where VolatileHeaders.contain(field.name) { request.headers[field.name] = Self.volatile }
        let type = headers[.contentType].flatMap { MediaType($0) }
        if !headers.contains(.contentEncoding), let data = try? request.framedBody().data,
            let json = Self.indented(data, type)
        {
            // The order of the members of an object can differ in each run.
            request.headers[.contentType] = headers[.contentType]
            request.body = DataBody(Data(json.utf8), contentType: .json)
        }
        var command = request.curlCommand()
        if let boundary, !boundary.isEmpty { command = command.replacingBytes(of: boundary, with: "boundary") }
        return Self.lines(of: command.replacingBytes(of: Redaction.placeholder, with: CassetteRedaction.placeholder))
            + "\n"
    }

    /// Breaks a command before each option and before the URL. A space inside quotes does not end a word.
    private static func lines(of command: String) -> String {
        var (words, isQuoted, isEscaped) = ([""], false, false)
        for character in command.unicodeScalars {
            if character == " ", !isQuoted, !isEscaped {
                words.append("")
                continue
            }
            if character == "'", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isQuoted && !isEscaped
            words[words.count - 1].unicodeScalars.append(character)
        }
        return words.indices.map { index in
            let isURL = index == words.count - 1 && index > 0 && !words[index - 1].begins(with: "--url")
            let separator = index == 0 ? "" : isURL || words[index].begins(with: "--") ? " \\\n  " : " "
            return separator + words[index]
        }.joined()
    }
}
