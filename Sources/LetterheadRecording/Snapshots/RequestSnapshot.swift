// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// A request as text, to compare it with a file.
///
/// ```swift
/// _ = try await client.send(CreateUser(user: ada))
/// try RequestSnapshot(stubs.requests[0]).check()
/// ```
///
/// The text contains what a transport would send: the method, the URL, the headers of the request and the body, and the
/// body, as in `.http` files. A JSON body is indented, with its members in alphabetical order. Secrets become
/// `REDACTED`. Multipart boundaries, idempotency keys and trace headers differ in each run, so they become fixed
/// placeholders.
public struct RequestSnapshot: Sendable, CustomStringConvertible {
    /// The text.
    public let text: String
    /// The extension of the snapshot's file, such as `http`.
    public let fileExtension: String

    /// Creates a snapshot from a request that a mock received, or from a builder's request.
    ///
    /// - Parameters:
    ///   - request: the request. If its body can be sent only once or is not in memory, the snapshot contains only the
    ///     type of the body.
    ///   - redaction: the secret names. Default: the standard names.
    /// - Throws: `.invalidRequest` if encoding the body fails.
    public init(_ request: HTTPRequest, redaction: Redaction = .standard) throws(HTTPError) {
        fileExtension = "http"
        text = Self.http(
            request, try Self.body(of: request), ArchiveRedaction(names: redaction).adding(request.redaction))
    }

    /// Creates a snapshot in a format of your own, such as a curl command with `LetterheadObserving`:
    ///
    /// ```swift
    /// try RequestSnapshot(stubs.requests[0], as: "curl") { $0.curlCommand(onLines: true) }.check()
    /// ```
    ///
    /// The closure receives the request with placeholders for values that differ in each run, and with the secret
    /// names. It is responsible for secrets: `Redaction` and `HTTPRequest.curlCommand` know them.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - fileExtension: the extension of the snapshot's file.
    ///   - redaction: the secret names. Default: the standard names.
    ///   - text: returns the text.
    /// - Throws: `.invalidRequest` if encoding the body fails.
    public init(
        _ request: HTTPRequest, as fileExtension: String, redaction: Redaction = .standard,
        _ text: (HTTPRequest) -> String
    ) throws(HTTPError) {
        self.fileExtension = fileExtension
        self.text = Self.custom(request, try Self.body(of: request), redaction, text)
    }

    /// The same as ``text``.
    public var description: String { text }
}

extension RequestSnapshot {
    private static let volatile = "VOLATILE"

    private static func body(of request: HTTPRequest) throws(HTTPError) -> Data? {
        request.body.isEmpty ? Data() : try request.framedBody().data
    }

    private static func http(_ request: HTTPRequest, _ data: Data?, _ redaction: ArchiveRedaction) -> String {
        let url = redaction.shown(request.redaction.url(of: request))
        let headers = request.framedHeaders()
        let (type, boundary) = (headers.type, headers.type?["boundary"])
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
        guard type?.isJSON == true, let json = try? JSONDecoder().value(of: JSONValue.self, from: data) else {
            return nil
        }
        return (try? JSONEncoder.indenting.encode(json)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func custom(
        _ request: HTTPRequest, _ data: Data?, _ redaction: Redaction, _ describe: (HTTPRequest) -> String
    ) -> String {
        var request = request
        request.redaction = request.redaction.adding(
            headers: redaction.headers, parameters: redaction.parameters, values: redaction.values)
        let (headers, type) = (request.framedHeaders(), request.framedHeaders().type)
        for field in headers where VolatileHeaders.contain(field.name) { request.headers[field.name] = volatile }
        if !headers.contains(.contentEncoding), let data, let json = indented(data, type) {
            // An object's members can have another order in each run.
            request.headers[.contentType] = headers[.contentType]
            request.body = DataBody(Data(json.utf8), contentType: .json)
        }
        var text = describe(request)
        if let boundary = type?["boundary"], !boundary.isEmpty {
            text = text.replacingBytes(of: boundary, with: "boundary")
        }
        return text.replacingBytes(of: Redaction.placeholder, with: ArchiveRedaction.placeholder) + "\n"
    }
}
