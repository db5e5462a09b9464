// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// A part in a multipart response, with its headers and its streamed content. `HTTPClient.parts(of:)` returns it.
public struct ResponsePart: Sendable {
    /// The response that contained the part, with the part headers and the part content.
    let response: HTTPResponse
    /// The limit that the sequence has for heads. If the content is an HTTP response, it also applies to the head of
    /// that response.
    let headLimit: Int

    /// The part headers, such as `Content-Type`, `Content-ID`, or `Content-Range` in `multipart/byteranges`.
    public var headers: HTTPHeaders { response.headers }

    /// The content as it arrives. A `Content-Transfer-Encoding` isn't decoded. Read the content once, and before you
    /// request the next part, which skips the rest.
    public var body: HTTPResponseBody { response.body }

    /// The form field name (RFC 7578, 4.2). Nil if `Content-Disposition` isn't `form-data` or has no name.
    ///
    /// `%22`, `%0D` and `%0A` are decoded as in the WHATWG HTML Standard, 4.10.21.8.
    public var name: String? {
        // The parameters have the same syntax as in a media type.
        let disposition = headers[.contentDisposition].flatMap { MediaType("part/\($0)") }
        guard let disposition, disposition.essence == "part/form-data" else { return nil }
        return [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")].reduce(disposition["name"]) {
            $0?.replacingBytes(of: $1.0, with: $1.1)
        }
    }

    /// Decodes the content, as `HTTPResponse.decode(_:)` decodes a response body.
    ///
    /// - Throws: `HTTPError` with `.cannotDecodeResponse`, `.emptyResponse`, `.responseTooLarge` for more than 64 MiB,
    ///   or the code from an error while receiving the part. `CancellationError` if the calling task was cancelled.
    public func decode<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
        try await response.decode(type)
    }

    /// Returns the HTTP response inside a part with the type `application/http`, as batch APIs send it (RFC 9112,
    /// 10.2).
    ///
    /// The status of the response isn't checked, and its request is the request for the whole batch.
    ///
    /// ```swift
    /// for try await part in client.parts(of: Batch(["users/ada", "users/grace"])) {
    ///     let response = try await part.httpResponse()
    ///     if response.status == .ok { show(try await response.decode(User.self)) }
    /// }
    /// ```
    ///
    /// - Throws: `HTTPError` with `.invalidResponse` if the part has a different type, a malformed head, a transfer
    ///   coding, or fewer bytes than its `Content-Length`. `.responseTooLarge` if the head is larger than `headLimit`.
    ///   Also the errors of ``decode(_:)``.
    @concurrent
    public func httpResponse() async throws -> HTTPResponse {
        let type = headers[.contentType].flatMap { MediaType($0) }
        guard type?.essence == "application/http" else {
            throw fault("expected application/http, and received \(type?.essence ?? "no Content-Type")")
        }
        let bytes = [UInt8](try await decode(Data.self))
        var searched = 0
        let found = bytes.endOfHead(from: 0, searched: &searched)
        guard (found ?? bytes.count) <= headLimit else {
            throw response.error(
                .responseTooLarge,
                "the head of the HTTP response in the part is larger than the \(headLimit) bytes allowed (to allow "
                    + "more, raise headLimit)")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(at: " ")
        guard words.count > 1, words[0].begins(with: "HTTP/"), words[1].utf8.count == 3, let code = Int(words[1]),
            code >= 100, let end = found,
            let fields = try? HTTPHeaders(lines: Array(bytes[line.count..<end])), !fields.contains(.transferEncoding)
        else { throw fault("its head is malformed, or has a transfer coding") }
        var (inner, content) = (response, bytes[end...])
        (inner.status, inner.headers) = (HTTPStatus(code), fields)
        if let length = inner.headers[.contentLength], inner.status != .notModified {
            guard ASCII.allBytes(of: length, fit: { (48...57).contains($0) }), let length = Int(length),
                length <= content.count
            else { throw fault("its Content-Length is malformed, or larger than its body") }
            content = content.prefix(length)
        }
        inner.body = HTTPResponseBody(Data(content))
        return inner
    }

    private func fault(_ message: String) -> HTTPError {
        response.error(.invalidResponse, "the part has no valid HTTP response: \(message)")
    }
}
