// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation
import LetterheadObserving

/// A request as text, to compare it with a file.
///
/// ```swift
/// _ = try await client.send(CreateUser(user: ada))
/// try RequestSnapshot(stubs.requests[0]).check()
/// ```
///
/// The text contains what a transport would send: the method, the URL, the request's and the body's headers, and the
/// body. A JSON body is indented, with its members in alphabetical order. Secrets become `REDACTED`. Multipart
/// boundaries, idempotency keys and trace headers differ in each run, so they become fixed placeholders.
public struct RequestSnapshot: Sendable, CustomStringConvertible {
    /// A snapshot's format.
    public enum Format: String, Sendable {
        /// As in `.http` files: the request line, the headers, an empty line, the body.
        case http
        /// A curl command for a POSIX shell, with one option on each line. See `HTTPRequest.curlCommand()`. An option
        /// with only a header's name removes what curl would add and the request doesn't have.
        case curl
    }

    /// The text.
    public let text: String
    /// The text's format, which is also its file's extension.
    public let format: Format

    /// Creates a snapshot from a request that a mock received, or from a builder's request.
    ///
    /// - Parameters:
    ///   - request: the request. If its body can be sent only once or is not in memory, a snapshot in the format
    ///     `.http` contains only the body's type. For `.curl`, see `HTTPRequest.curlCommand()`.
    ///   - format: the format. Default: `.http`.
    ///   - redaction: the secret names. Default: the standard names.
    /// - Throws: `.invalidRequest` if encoding the body fails.
    public init(
        _ request: HTTPRequest, format: Format = .http, redaction: Redaction = .standard
    ) throws(HTTPError) {
        let data = request.body.isEmpty ? Data() : try request.framedBody().data
        self.format = format
        switch format {
        case .http: text = Self.http(request, data, ArchiveRedaction(names: redaction).adding(request.redaction))
        case .curl: text = Self.curl(request, data, redaction)
        }
    }

    /// The same as ``text``.
    public var description: String { text }
}

extension RequestSnapshot {
    private static let volatile = "VOLATILE"

    private static func http(_ request: HTTPRequest, _ data: Data?, _ redaction: ArchiveRedaction) -> String {
        let shown = request.redaction.url(of: request)
        let url = redaction.text(
            shown.replacingBytes(of: Redaction.placeholder, with: ArchiveRedaction.placeholder))
        let headers = request.framedHeaders()
        let type = headers[.contentType].flatMap { MediaType($0) }
        let boundary = type?["boundary"]
        var lines = ["\(request.method) \(url) HTTP/1.1"]
        lines += redaction.fields(headers).map { field in
            let value = VolatileHeaders.contain(HTTPHeaders.Name(field.name)) ? volatile : field.value
            return "\(field.name): \(boundary.map { value.replacingBytes(of: $0, with: "boundary") } ?? value)"
        }
        var body = "(\(Swift.type(of: request.body)))"
        if let data {
            let isSecret = request.isSecret || headers.contains(.contentEncoding)
            let clean = data.isEmpty ? data : redaction.body(data, mediaType: type, isSecret: isSecret)
            body = indented(clean, type) ?? HAR.text(of: clean.replacingBoundary(boundary)).text
        }
        if !body.isEmpty { lines += ["", body.replacingBytes(of: "\r\n", with: "\n")] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func indented(_ data: Data, _ type: MediaType?) -> String? {
        guard type?.isJSON == true, let json = try? JSONDecoder().decode(JSONValue.self, from: data) else { return nil }
        return (try? JSONEncoder.indenting.encode(json)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a request's curl command, with one option on each line, for shells and people.
    private static func curl(_ request: HTTPRequest, _ data: Data?, _ redaction: Redaction) -> String {
        var request = request
        request.redaction = request.redaction.adding(headers: redaction.headers, parameters: redaction.parameters)
        let headers = request.framedHeaders()
        for field in headers where VolatileHeaders.contain(field.name) { request.headers[field.name] = volatile }
        let type = headers[.contentType].flatMap { MediaType($0) }
        if !headers.contains(.contentEncoding), let data, let json = indented(data, type) {
            // An object's members can have another order in each run.
            request.headers[.contentType] = headers[.contentType]
            request.body = DataBody(Data(json.utf8), contentType: .json)
        }
        var command = request.curlCommand()
        if let boundary = type?["boundary"], !boundary.isEmpty {
            command = command.replacingBytes(of: boundary, with: "boundary")
        }
        return lines(of: command.replacingBytes(of: Redaction.placeholder, with: ArchiveRedaction.placeholder)) + "\n"
    }

    /// Breaks a command before each option and before the URL. A space inside quotes does not end a word.
    private static func lines(of command: String) -> String {
        var (words, isQuoted, isEscaped) = ([""], false, false)
        for scalar in command.unicodeScalars {
            if scalar == " ", !isQuoted, !isEscaped {
                words.append("")
                continue
            }
            if scalar == "'", !isEscaped { isQuoted.toggle() }
            isEscaped = scalar == "\\" && !isQuoted && !isEscaped
            words[words.count - 1].unicodeScalars.append(scalar)
        }
        return words.indices.map { index in
            let isURL = index == words.count - 1 && index > 0 && !words[index - 1].begins(with: "--url")
            let separator = index == 0 ? "" : isURL || words[index].begins(with: "--") ? " \\\n  " : " "
            return separator + words[index]
        }.joined()
    }
}
