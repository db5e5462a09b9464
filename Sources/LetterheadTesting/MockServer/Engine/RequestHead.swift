// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// The request line and the header fields, with the body framing and the connection persistence that they specify (RFC
/// 9112).
struct RequestHead {
    /// How the body's end is determined.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: String
    let target: String
    let version: String
    let headers: HTTPHeaders
    let framing: Framing

    init(line: String, headers: HTTPHeaders) throws(RequestFault) {
        let parts = line.split(at: " ", omittingEmpty: false)
        guard parts.count == 3, ASCII.isToken(parts[0]), !parts[1].isEmpty else {
            throw .malformed("the request line is not METHOD SP TARGET SP VERSION")
        }
        guard parts[2].isSame(as: "HTTP/1.1") || parts[2].isSame(as: "HTTP/1.0") else {
            throw RequestFault(status: 505, description: "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        guard parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed("the target contains bytes that must be escaped")
        }
        method = String(parts[0])
        target = String(parts[1])
        version = String(parts[2])
        self.headers = headers
        framing = try Self.framing(of: headers)
        guard version == "HTTP/1.0" || headers.values(for: .host).count == 1 else {
            throw .malformed("there must be exactly one Host field")
        }
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        version == "HTTP/1.1" && framing != .none && headers[.expect].map(ASCII.keyword) == "100-continue"
    }

    /// Whether the client may send another request on this connection (RFC 9112, 9.3).
    var keepsAlive: Bool {
        let options = Self.tokens(headers[.connection])
        return version == "HTTP/1.1" ? !options.contains("close") : options.contains("keep-alive")
    }

    static func tokens(_ value: String?) -> [String] {
        ASCII.members(of: value.map { [$0] } ?? []).map(ASCII.keyword)
    }

    /// Parses one `Name: value` line.
    static func field(_ line: String) throws(RequestFault) -> HTTPHeaders.Field {
        guard let (name, value) = line.cut(at: ":"), ASCII.isToken(name) else {
            throw .malformed("a header line is not NAME: VALUE, or is folded")
        }
        return HTTPHeaders.Field(HTTPHeaders.Name(String(name)), String(value))
    }

    private static func framing(of headers: HTTPHeaders) throws(RequestFault) -> Framing {
        let lengths = headers.values(for: .contentLength)
        if let coding = headers[.transferEncoding] {
            guard lengths.isEmpty else { throw .malformed("both Content-Length and Transfer-Encoding") }
            guard tokens(coding) == ["chunked"] else { throw .unsupported("a transfer coding other than chunked") }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) else {
            throw .malformed("Content-Length must be one number")
        }
        return length == 0 ? .none : .length(length)
    }
}
