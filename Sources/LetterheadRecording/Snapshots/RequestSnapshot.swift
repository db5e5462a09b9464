// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// A request as text, to compare it with a file that you have reviewed.
///
/// ```swift
/// _ = try await client.send(CreateUser(user: ada))
/// try RequestSnapshot(stubs.requests[0]).check()
/// ```
///
/// The text contains what a transport would send, as in `.http` files: the method and the URL, the headers of the
/// request and of its body, and the body. A JSON body is indented, and its members are sorted. Some parts are replaced,
/// so that the text is the same in each run:
///
/// - Secrets become `REDACTED`.
/// - Multipart boundaries, idempotency keys and trace headers become fixed placeholders.
public struct RequestSnapshot: Sendable, CustomStringConvertible {
    /// The text that is compared with the file.
    public let text: String
    /// The file extension of the snapshot file. Default: `http`.
    public let fileExtension: String

    /// Creates a snapshot of a request that a mock has received or a request builder has built.
    ///
    /// - Parameters:
    ///   - request: the request. If its body can be sent only once or isn't in memory, the snapshot contains only the
    ///     body type.
    ///   - redaction: the secret names. Default: the standard names.
    /// - Throws: `.invalidRequest` if encoding the body fails.
    public init(_ request: HTTPRequest, redaction: Redaction = .standard) throws(HTTPError) {
        try self.init(request, as: "http", redaction: redaction, Self.http)
    }

    /// Creates a snapshot in a custom format, such as a curl command from `LetterheadObserving`.
    ///
    /// ```swift
    /// try RequestSnapshot(stubs.requests[0], as: "curl") { $0.curlCommand(onLines: true) }.check()
    /// ```
    ///
    /// The closure receives the request with placeholders for values that differ in each run. It must not return
    /// secrets: use `Redaction` or `HTTPRequest.curlCommand`, which know the secret names in the request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - fileExtension: the file extension for the snapshot.
    ///   - redaction: the secret names. Default: the standard names.
    ///   - text: returns the text for the request.
    /// - Throws: `.invalidRequest` if encoding the body fails.
    public init(
        _ request: HTTPRequest, as fileExtension: String, redaction: Redaction = .standard,
        _ text: (HTTPRequest) -> String
    ) throws(HTTPError) {
        self.fileExtension = fileExtension
        let (data, headers) = (request.body.isEmpty ? nil : try request.framedBody().data, request.framedHeaders())
        var request = request
        request.redaction = request.redaction.adding(
            headers: redaction.headers, parameters: redaction.parameters, values: redaction.values)
        for field in headers where Self.isVolatile(field.name) { request.headers[field.name] = "VOLATILE" }
        if !headers.contains(.contentEncoding), let data, let json = Self.indented(data, headers.type) {
            // The order of JSON members can differ in each run, so the body is replaced by one with sorted members.
            request.headers[.contentType] = headers[.contentType]
            request.body = DataBody(Data(json.utf8), contentType: .json)
        }
        let shown = text(request).replacingBytes(of: Redaction.placeholder, with: ArchiveRedaction.placeholder)
        let boundary = headers.type?["boundary"] ?? ""
        self.text = (boundary.isEmpty ? shown : shown.replacingBytes(of: boundary, with: "boundary")) + "\n"
    }

    /// The same as ``text``.
    public var description: String { text }
}

extension RequestSnapshot {
    /// Returns whether a header value differs in each run, as trace headers, request identifiers and idempotency keys
    /// do.
    private static func isVolatile(_ name: HTTPHeaders.Name) -> Bool {
        name.fieldClass == .trace || name == .idempotencyKey || name == "X-Idempotency-Key"
    }

    private static func http(_ request: HTTPRequest) -> String {
        let (redaction, headers) = (ArchiveRedaction(names: request.redaction), request.framedHeaders())
        var lines = ["\(request.method) \(redaction.text(request.redaction.url(of: request))) HTTP/1.1"]
        lines += redaction.fields(headers).map { "\($0.name): \($0.value ?? "")" }
        guard !request.body.isEmpty else { return lines.joined(separator: "\n") }
        var body = "(\(Swift.type(of: request.body)))"
        if let data = try? request.framedBody().data {
            let isSecret = request.isSecret || headers.contains(.contentEncoding)
            let clean = redaction.body(data, mediaType: headers.type, isSecret: isSecret)
                .replacingBoundary(headers.type?["boundary"])
            body = indented(clean, headers.type) ?? String(data: clean, encoding: .utf8) ?? clean.base64EncodedString()
        }
        return (lines + ["", body.replacingBytes(of: "\r\n", with: "\n")]).joined(separator: "\n")
    }

    private static func indented(_ data: Data, _ type: MediaType?) -> String? {
        guard type?.isJSON == true, let json = try? JSONDecoder().value(of: JSONValue.self, from: data),
            let text = try? JSONEncoder.sorting(.prettyPrinted).encode(json)
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
