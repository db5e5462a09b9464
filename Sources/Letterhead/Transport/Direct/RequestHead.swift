// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Writes an HTTP/1.1 request head (RFC 9112, 3).
enum RequestHead {
    /// How the body is framed.
    enum Framing {
        /// No body and no `Content-Length`.
        case none
        case length(Int)
        case chunks
    }

    /// Returns the request line, the fields and the empty line, followed by a small body, in one array.
    ///
    /// The request has been validated and framed, so that nothing in it can end a line or add a field.
    static func bytes(
        of request: HTTPRequest, framing: Framing, decodesContent: Bool, body: Data = Data()
    ) -> [UInt8] {
        let codings = request.offeredCodings(decodesContent: decodesContent)
        // The constant covers the delimiters and the fields that are added here.
        var capacity = 192 + request.method.rawValue.utf8.count + request.urlCapacity
        capacity += (request.host?.utf8.count ?? 0) + (codings?.utf8.count ?? 0)
        for field in request.headers { capacity += field.name.rawValue.utf8.count + field.value.utf8.count + 4 }
        return ByteText.bytes(atMost: capacity + body.count) { text in
            text.append(request.method.rawValue)
            text.append(" " as Unicode.Scalar)
            request.writeTarget(to: &text)
            text.append(" HTTP/1.1\r\n")
            writeHost(of: request, to: &text)
            for field in request.headers where field.name != .host { text.append(field.name.rawValue, field.value) }
            if let codings { text.append("Accept-Encoding", codings) }
            switch framing {
            case .none: break
            case .length(let count):
                text.append("Content-Length: ")
                text.append(count)
                text.append("\r\n")
            case .chunks: text.append("Transfer-Encoding: chunked\r\n")
            }
            text.append("\r\n")
            unsafe body.withUnsafeBytes { unsafe text.append($0.bindMemory(to: UInt8.self)) }
        }
    }

    /// Writes `Host` as the first field, where servers expect it (RFC 9110, 7.2).
    private static func writeHost(of request: HTTPRequest, to text: inout ByteText) {
        if let host = request.headers[.host] { return text.append("Host", host) }
        guard !request.omittedHeaders.contains(.host) else { return }
        text.append("Host: ")
        request.writeHost(to: &text)
        text.append("\r\n")
    }
}

extension ByteText {
    fileprivate mutating func append(_ name: String, _ value: String) {
        append(name)
        append(value.isEmpty ? ":" : ": ")
        append(value)
        append("\r\n")
    }
}

/// Frames pieces of a body as chunks (RFC 9112, 7.1), without copying them.
enum ChunkCoding {
    /// The number of bytes to leave free before a piece, and after it.
    static let (roomBefore, roomAfter) = (10, 2)
    static let last = Array("0\r\n\r\n".utf8)

    /// Writes the size before a piece, which begins at ``roomBefore``, and its end after it. Returns the range of the
    /// chunk. The piece has from 1 to 2^32 - 1 bytes, because an empty chunk would end the body.
    static func frame(_ buffer: UnsafeMutableRawBufferPointer, count: Int) -> Range<Int> {
        unsafe (buffer[roomBefore + count], buffer[roomBefore + count + 1]) = (0x0D, 0x0A)
        unsafe (buffer[roomBefore - 2], buffer[roomBefore - 1]) = (0x0D, 0x0A)
        var (start, rest) = (roomBefore - 2, count)
        repeat {
            start -= 1
            let digit = UInt8(rest & 15)
            unsafe buffer[start] = digit < 10 ? 48 + digit : 87 + digit
            rest >>= 4
        } while rest > 0
        return start..<(roomBefore + count + roomAfter)
    }
}
