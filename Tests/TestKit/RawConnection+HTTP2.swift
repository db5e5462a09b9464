// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation

    /// A frame of HTTP/2 (RFC 9113, 4.1).
    package struct HTTP2Frame: Sendable {
        package enum Kind: UInt8, Sendable {
            case data = 0, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate,
                continuation
        }

        package let kind: Kind
        package let flags: UInt8
        package let stream: UInt32
        package let payload: Data

        package init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) {
            (self.kind, self.flags, self.stream, self.payload) = (kind, flags, stream, Data(payload))
        }

        /// The response 200 without a body: `:status: 200` is index 8 of the static table (RFC 7541, A).
        package static func success(on stream: UInt32) -> HTTP2Frame {
            HTTP2Frame(.headers, flags: 0x5, stream: stream, payload: [0x88])
        }

        /// The head of the response 200, which a body follows.
        package static func head(on stream: UInt32) -> HTTP2Frame {
            HTTP2Frame(.headers, flags: 0x4, stream: stream, payload: [0x88])
        }

        /// The response 103 with a `Link` field, neither of them in the table of RFC 7541.
        package static func earlyHints(_ link: String, on stream: UInt32) -> HTTP2Frame {
            let fields = [0x08, 3] + Array("103".utf8) + [0x00, 4] + Array("link".utf8) + [UInt8(link.utf8.count)]
            return HTTP2Frame(.headers, flags: 0x4, stream: stream, payload: fields + Array(link.utf8))
        }

        /// A part of a body.
        package static func body(_ bytes: Data, on stream: UInt32, isLast: Bool) -> HTTP2Frame {
            HTTP2Frame(.data, flags: isLast ? 0x1 : 0, stream: stream, payload: [UInt8](bytes))
        }

        /// Refuses a stream that was not processed.
        package static func refusal(of stream: UInt32) -> HTTP2Frame { resetting(stream, 7) }

        /// Resets a stream with an error code (RFC 9113, 7).
        package static func resetting(_ stream: UInt32, _ code: UInt8) -> HTTP2Frame {
            HTTP2Frame(.resetStream, stream: stream, payload: [0, 0, 0, code])
        }

        /// Ends the connection after the streams up to `last`.
        package static func goAway(last: UInt8) -> HTTP2Frame {
            HTTP2Frame(.goAway, payload: [0, 0, 0, last, 0, 0, 0, 0])
        }
    }

    extension RawConnection {
        /// Reads the client's preface and agrees on settings. Returns false when the client does not speak HTTP/2.
        package func beginHTTP2() -> Bool {
            guard read(24) == Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) else { return false }
            return write(HTTP2Frame(.settings)) && write(HTTP2Frame(.settings, flags: 1))
        }

        /// The stream of the next request with a complete body, or nil when the peer is gone.
        package func readHTTP2Request() -> UInt32? {
            while let frame = readFrame() {
                let isRequest = frame.kind == .headers || frame.kind == .data
                if isRequest, frame.flags & 0x1 != 0 { return frame.stream }
            }
            return nil
        }

        /// The streams and the bodies of requests, in the order that their bodies have ended, or nil when the peer is
        /// gone.
        package func readHTTP2Requests(_ count: Int) -> [(stream: UInt32, body: Data)]? {
            var bodies: [UInt32: Data] = [:]
            var ended: [(UInt32, Data)] = []
            while ended.count < count {
                guard let frame = readFrame() else { return nil }
                guard frame.kind == .headers || frame.kind == .data else { continue }
                if frame.kind == .data { bodies[frame.stream, default: Data()] += frame.payload }
                if frame.flags & 0x1 != 0 { ended.append((frame.stream, bodies[frame.stream] ?? Data())) }
            }
            return ended
        }

        package func readFrame() -> HTTP2Frame? {
            while true {
                guard let head = read(9) else { return nil }
                let bytes = [UInt8](head)
                guard let payload = read(Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])) else { return nil }
                guard let kind = HTTP2Frame.Kind(rawValue: bytes[3]) else { continue }
                let stream = bytes[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                return HTTP2Frame(kind, flags: bytes[4], stream: stream, payload: [UInt8](payload))
            }
        }

        @discardableResult
        package func write(_ frame: HTTP2Frame) -> Bool {
            let size = frame.payload.count
            var bytes: [UInt8] = [UInt8(size >> 16 & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF)]
            bytes += [frame.kind.rawValue, frame.flags]
            bytes += (0..<4).map { UInt8(frame.stream >> (24 - 8 * UInt32($0)) & 0xFF) }
            return write(bytes + [UInt8](frame.payload))
        }
    }
#endif
