// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// Encodes a response as HTTP/1.1 (RFC 9112).
struct ResponseEncoder {
    struct Encoded {
        /// The informational responses, the status line and the fields.
        var head = Data()
        /// The encoded body. It's empty if there is none, and if the body is sent later as a stream.
        var body = Data()
        /// How the chunks that follow are framed, or nil if the body is in memory.
        var stream: Stream?
        /// Whether the connection closes after the response.
        var closes = false
    }

    /// How body chunks are framed.
    struct Stream {
        var isChunked: Bool
        /// The custom `Content-Length` of the response, or nil.
        var declared: Int?
        var trailers: HTTPHeaders
    }

    let request: RequestHead
    /// Whether the connection must close after the response, even if no header requires it.
    let mustClose: Bool

    func encode(_ response: MockServer.Response) throws -> Encoded {
        var head = Data()
        for hint in response.informational {
            guard hint.status.isInformational else {
                throw PlainFailure("an informational response must have a status of 1xx")
            }
            head.append(statusLine(hint.status))
            try append(hint.headers, to: &head)
            head.append("\r\n")
        }
        head.append(statusLine(response.status))
        try append(response.headers, to: &head)
        var encoded = try frame(response)
        encoded.closes = encoded.closes || mustClose || !request.keepsAlive
        encoded.closes = encoded.closes || RequestHead.tokens(response.headers[.connection]).contains("close")
        if encoded.closes, !response.headers.contains(.connection) { encoded.head.append("Connection: close\r\n") }
        if !encoded.closes, request.version == "HTTP/1.0" { encoded.head.append("Connection: keep-alive\r\n") }
        encoded.head = head + encoded.head + Data("\r\n".utf8)
        return encoded
    }

    /// Returns the head with the framing fields, and the body in this framing (RFC 9112, 6).
    private func frame(_ response: MockServer.Response) throws -> Encoded {
        try check(response.trailers)
        var encoded = Encoded()
        var (declared, isChunked): (Int?, Bool) = (nil, false)
        let hasBody = !isBodyless(response.status)
        if response.headers.contains(.transferEncoding) {
            // With a custom Transfer-Encoding, the bytes are sent unchanged.
        } else if let length = response.headers[.contentLength] {
            declared = Int(length)
            encoded.closes = hasBody && response.chunks == nil && declared != response.body.count
        } else if Self.isBodyless(response.status) {
            return encoded
        } else if response.chunks == nil, response.trailers.isEmpty {
            encoded.head.append("Content-Length: \(response.body.count)\r\n")
        } else if request.version == "HTTP/1.1" {
            isChunked = true
            encoded.head.append("Transfer-Encoding: chunked\r\n")
        } else {
            encoded.closes = true
        }
        guard hasBody else { return encoded }
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
        request.method == "HEAD" || Self.isBodyless(status) || request.method == "CONNECT" && status.isSuccess
    }

    private static func isBodyless(_ status: HTTPStatus) -> Bool {
        status.isInformational || status == 204 || status == 304
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
                throw PlainFailure("the header \(field.name.rawValue.debugDescription) cannot be sent: use .raw")
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
