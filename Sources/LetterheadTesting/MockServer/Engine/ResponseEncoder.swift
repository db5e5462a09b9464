// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// Encodes a response as HTTP/1.1 (RFC 9112).
struct ResponseEncoder {
    /// An encoded response.
    struct Encoded {
        /// The informational responses, the status line and the fields.
        var head: Data
        /// The encoded body; empty if there is no body, or if it is sent later as a stream.
        var body = Data()
        /// The framing of the chunks that follow; nil for a body in memory.
        var stream: Stream?
        /// Whether the connection is closed after the response.
        var closes: Bool
    }

    /// How the chunks of a body are framed.
    struct Stream {
        var isChunked: Bool
        /// The custom `Content-Length` of the response, if it has one.
        var declared: Int?
        var trailers: HTTPHeaders
    }

    /// The error of a response that cannot be encoded.
    struct Unwritable: Error, CustomStringConvertible {
        let description: String
    }

    let request: RequestHead
    /// Whether the connection must be closed after the response, regardless of its headers.
    let mustClose: Bool

    func encode(_ response: MockServer.Response) throws -> Encoded {
        var head = Data()
        for hint in response.informational {
            guard hint.status.isInformational else {
                throw Unwritable(description: "an informational response whose status is not 1xx")
            }
            head.append(statusLine(hint.status))
            try append(hint.headers, to: &head)
            head.append("\r\n")
        }
        head.append(statusLine(response.status))
        try append(response.headers, to: &head)
        var encoded = frame(response)
        encoded.closes = encoded.closes || mustClose || !request.keepsAlive
        encoded.closes = encoded.closes || RequestHead.tokens(response.headers[.connection]).contains("close")
        if encoded.closes, !response.headers.contains(.connection) { encoded.head.append("Connection: close\r\n") }
        if !encoded.closes, request.version == "HTTP/1.0" { encoded.head.append("Connection: keep-alive\r\n") }
        try check(response.trailers)
        encoded.head = head + encoded.head + Data("\r\n".utf8)
        return encoded
    }

    /// Returns the framing fields, in `head`, and the matching body (RFC 9112, 6).
    private func frame(_ response: MockServer.Response) -> Encoded {
        let declared = response.headers[.contentLength]
        let hasBody = !isBodyless(response.status)
        if response.headers.contains(.transferEncoding) {
            return body(response, Encoded(head: Data(), closes: false), hasBody, isChunked: false)
        }
        if let declared {
            let lies = hasBody && response.chunks == nil && Int(declared) != response.body.count
            return body(
                response, Encoded(head: Data(), closes: lies), hasBody, isChunked: false, declared: Int(declared))
        }
        if response.status.isInformational || response.status == 204 || response.status == 304 {
            return Encoded(head: Data(), closes: false)
        }
        guard response.chunks != nil || !response.trailers.isEmpty else {
            let head = Data("Content-Length: \(response.body.count)\r\n".utf8)
            return body(response, Encoded(head: head, closes: false), hasBody, isChunked: false)
        }
        guard request.version == "HTTP/1.1" else {
            return body(response, Encoded(head: Data(), closes: true), hasBody, isChunked: false)
        }
        let head = Data("Transfer-Encoding: chunked\r\n".utf8)
        return body(response, Encoded(head: head, closes: false), hasBody, isChunked: true)
    }

    private func body(
        _ response: MockServer.Response, _ encoded: Encoded, _ hasBody: Bool, isChunked: Bool, declared: Int? = nil
    ) -> Encoded {
        guard hasBody else { return encoded }
        var encoded = encoded
        if response.chunks != nil {
            encoded.stream = Stream(isChunked: isChunked, declared: declared, trailers: response.trailers)
        } else if isChunked {
            if !response.body.isEmpty { encoded.body = Self.chunk(response.body) }
            encoded.body.append(Self.lastChunk(response.trailers))
        } else {
            encoded.body = response.body
        }
        return encoded
    }

    private func isBodyless(_ status: HTTPStatus) -> Bool {
        request.method == "HEAD" || status.isInformational || status == 204 || status == 304
            || request.method == "CONNECT" && status.isSuccess
    }

    private func statusLine(_ status: HTTPStatus) -> String { "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n" }

    private func append(_ headers: HTTPHeaders, to head: inout Data) throws {
        try check(headers)
        for field in headers { head.append(Self.line(field)) }
    }

    private func check(_ headers: HTTPHeaders) throws {
        for field in headers {
            let isFit = field.value.utf8.allSatisfy { $0 != 13 && $0 != 10 && $0 != 0 }
            guard isFit, ASCII.isToken(field.name.rawValue) else {
                throw Unwritable(
                    description: "the header \(field.name.rawValue.debugDescription) cannot be sent; use .raw")
            }
        }
    }

    /// Returns one encoded chunk (RFC 9112, 7.1).
    static func chunk(_ bytes: Data) -> Data {
        var chunk = Data("\(String(bytes.count, radix: 16))\r\n".utf8)
        chunk.append(bytes)
        chunk.append("\r\n")
        return chunk
    }

    /// Returns the end of a chunked body.
    static func lastChunk(_ trailers: HTTPHeaders) -> Data {
        var bytes = Data("0\r\n".utf8)
        for field in trailers { bytes.append(line(field)) }
        bytes.append("\r\n")
        return bytes
    }

    private static func line(_ field: HTTPHeaders.Field) -> String { "\(field.name.rawValue): \(field.value)\r\n" }
}

extension Data {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
