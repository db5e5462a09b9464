// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import TestKit

    /// The bytes of one hostile response, made from a seed: the same seed makes the same bytes.
    ///
    /// Each response carries the token of its request, in a header field and throughout its body. A damaged token is
    /// not a valid one, so a valid token in a response that a caller received tells which request the bytes belong to.
    struct FuzzedResponse {
        enum End {
            case keepOpen, close, reset, halfClose
        }

        private(set) var bytes: [UInt8] = []
        private(set) var end = End.keepOpen
        /// Whether the server responds before it has read the request's body.
        let isEarly: Bool
        /// How many bytes are written at a time.
        private(set) var pieceSize = Int.max
        private var random: SeededGenerator
        private let token: String

        init(id: Int, seed: UInt64, isHead: Bool) {
            var random = SeededGenerator(seed: seed)
            isEarly = random.chance(10)
            self.random = random
            token = Self.token(of: id)
            // Half of the responses are in order, so that connections are reused.
            let isHostile = self.random.chance(50)
            compose(isHead: isHead, isHostile: isHostile)
            guard isHostile else { return }
            if self.random.chance(40) { mutate() }
            finish(id)
        }

        static func token(of id: Int) -> String {
            var mixed = SeededGenerator(seed: UInt64(truncatingIfNeeded: id) ^ 0xA5A5)
            return "id=\(id).\(String(mixed.next() % 0xFFFF_FFFF, radix: 16))."
        }

        /// The ids of all undamaged tokens in a text.
        static func ids(in bytes: Data) -> Set<Int> {
            var ids: Set<Int> = []
            for part in String(decoding: bytes, as: UTF8.self).components(separatedBy: "id=").dropFirst() {
                let fields = part.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
                guard fields.count == 3, let id = Int(fields[0]), token(of: id) == "id=\(fields[0]).\(fields[1])."
                else {
                    continue
                }
                ids.insert(id)
            }
            return ids
        }
    }

    // MARK: Composing

    extension FuzzedResponse {
        private mutating func compose(isHead: Bool, isHostile: Bool) {
            for _ in 0..<(random.chance(4) ? random.below(4) : 0) {
                add("HTTP/1.1 \(random.pick(["100 Continue", "102 Processing", "103 Early Hints", "199 x"]))\r\n")
                if random.chance(50) { add("Link: </\(token)>; rel=preload\r\n") }
                add("\r\n")
            }
            let isOrdinary = !isHostile || random.chance(30)
            let status = isOrdinary ? 200 : random.pick([200, 201, 204, 205, 206, 304, 400, 401, 413, 429, 500, 503])
            add(isOrdinary || random.chance(70) ? "HTTP/1.1 \(status) OK\r\n" : random.pick(Self.statusLines))
            if isHostile, random.chance(15) { add(random.pick(Self.lines)) }
            add("X-Id: \(token)\r\n")
            for _ in 0..<(isHostile && random.chance(50) ? random.below(5) : 0) { add(random.pick(Self.lines)) }
            if isHostile, random.chance(1) {
                add("X-Long: \(String(repeating: "a", count: random.below(130_000)))\r\n")
            }
            let hasBody = !isHead && ![204, 205, 304].contains(status)
            addBody(hasBody ? body() : "", isHead: isHead, isHostile: isHostile)
        }

        private mutating func body() -> String {
            let count = random.chance(90) ? random.below(20) : random.below(4000)
            return String(repeating: token, count: count)
        }

        private mutating func addBody(_ body: String, isHead: Bool, isHostile: Bool) {
            switch random.below(20) {
            case 0..<13:
                add("Content-Length: \(body.utf8.count)\r\n\r\n" + body)
            case 13..<19:
                add("Transfer-Encoding: chunked\r\n\r\n")
                if !isHead { addChunks(of: body, isHostile: isHostile) }
            default:
                add("\r\n" + body)
                end = .close
            }
        }

        private mutating func addChunks(of body: String, isHostile: Bool) {
            var rest = Array(body.utf8)[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.below(3000))
                rest = rest.dropFirst(piece.count)
                add(String(piece.count, radix: 16) + (random.chance(5) ? ";x=\"y\"" : "") + "\r\n")
                bytes += piece
                add("\r\n")
            }
            add("0\r\n")
            if random.chance(20) { add("X-Trailer: \(token)\r\n") }
            if isHostile, random.chance(10) { add(random.pick(Self.lines)) }
            add("\r\n")
        }

        private mutating func add(_ text: String) { bytes += text.utf8 }
    }

    // MARK: Damaging

    extension FuzzedResponse {
        private mutating func mutate() {
            // Most damage is done where a parser looks: in the head and in the first chunks.
            let size = random.chance(70) ? min(bytes.count, 300) : bytes.count
            for _ in 0...random.below(4) where size > 0 && !bytes.isEmpty {
                let index = min(random.below(size), bytes.count - 1)
                switch random.below(6) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[index] = random.pick(Array(" \t\r\n\0:;,/-0129HTPx".utf8))
                case 2: bytes.insert(random.pick(Array("\r\n\0 :\u{7f}".utf8)), at: index)
                case 3: bytes.remove(at: index)
                case 4:
                    bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 1 + random.below(60))], at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + 1 + random.below(30)))
                }
            }
        }

        /// Decides how the bytes are sent, and how the connection ends.
        private mutating func finish(_ id: Int) {
            if random.chance(8) {
                bytes.removeLast(random.below(bytes.count + 1))
                // Seldom left open: the client then waits for its idle time limit.
                end = random.chance(2) ? .keepOpen : random.pick([.close, .reset, .halfClose])
            } else if random.chance(5) {
                end = random.pick([.close, .reset, .halfClose])
            }
            if random.chance(4), bytes.count < 8000 {
                // In one piece with the response: later bytes cannot be distinguished from the next response.
                bytes +=
                    random.chance(50)
                    ? Array(
                        "HTTP/1.1 200 OK\r\nX-Id: \(token)\r\nContent-Length: \(token.utf8.count)\r\n\r\n\(token)".utf8)
                    : (0...random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            } else if random.chance(5) {
                pieceSize = 1 + random.below(random.chance(50) ? 40 : 3000)
            }
        }

        private static let statusLines = [
            "HTTP/2.0 200 OK\r\n", "HTTP/2 200\r\n", "HTTP/2 200 OK\r\n", "HTTP/3 200 \r\n", "HTTP/1.0 200 OK\r\n",
            "HTTP/1.2 200 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 OK\r\n", "HTTP/1.1 20 OK\r\n",
            "HTTP/1.1 -20 OK\r\n",
            "HTTP/0.9 200 OK\r\n", "ICY 200 OK\r\n", " HTTP/1.1 200 OK\r\n", "HTTP/1.1 200\r\n", "HTTP/1.1  200 OK\r\n",
            "http/1.1 200 OK\r\n", "HTTP/1.1\t200 OK\r\n", "HTTP 200 OK\r\n", "HTTP/11 200 OK\r\n", "\r\n",
            "garbage\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n", "HTTP/2 12345 OK\r\n",
            "HTTP/1.1 200 \u{0}\r\n", "HTTP/1.1 200 OK\n", "HTTP/1.1 600 x\r\n", "HTTP/1.1 999 x\r\n",
        ]

        private static let lines = [
            " folded: first\r\n", "\tfolded\r\n", " X-Two: v\r\n", "X-Frame\r-Options: v\r\n", "no colon\r\n",
            ": no name\r\n",
            "X Y: space\r\n", "X-Space : v\r\n", "X-Nul: a\u{0}b\r\n", "X-Empty:\r\n", "X-Esc: \u{1b}[31m\r\n",
            "X-Bare: a\n",
            "X-A: 1\r\n X-B: folded\r\n\t and again\r\n", "Content-Length: 0\r\n", "Content-Length: 5\r\n",
            "Content-Length: -1\r\n", "Content-Length: 99999999999999999999999\r\n", "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n", "Content-Length: 0x5\r\n", "Content-Length: \r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: xchunked\r\n",
            "transfer-encoding:\tchunked\r\n", "Content-Encoding: gzip\r\n", "Content-Encoding: br, deflate\r\n",
            "Connection: close\r\n", "Connection: keep-alive\r\n", "Keep-Alive: timeout=0\r\n",
            "Connection: upgrade\r\n",
            "Upgrade: h2c\r\n", "Alt-Svc: h2=\":1\"; ma=1\r\n", "Set-Cookie: a=b; Path=/\r\n", "Location: //%00/x\r\n",
            "WWW-Authenticate: Basic realm=x\r\n", "WWW-Authenticate: NTLM\r\n",
            "Retry-After: 99999999999999999999\r\n",
            "Trailer: X-Id\r\n", "Content-Range: bytes 0-4/5\r\n", "Content-Type: text/\u{e9}\r\n", "Date: never\r\n",
        ]
    }

    extension SeededGenerator {
        mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
        mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
        mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
    }
#endif
