// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit
    import Synchronization

    /// The servers of a case: the API, a second origin with another host, and two replicas of the API.
    enum Site: String, CaseIterable { case api, other, first, second }

    /// A request that a server has seen.
    struct Seen: Sendable {
        let site: Site
        let connection: Int
        /// The number of earlier requests on the connection.
        let earlier: Int
        let method: String
        let target: String
        /// The names are in lower case.
        let fields: [(name: String, value: String)]
        /// nil while it has not been received completely.
        var body: Data?
        var step: Step?
        var status: Int?
        /// Whether it carried what its origin requires.
        var isSigned = true

        func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
        subscript(name: String) -> String? { values(name).first }

        var path: String {
            String(target.split(separator: "?").first ?? "").split(separator: "/").last.map(String.init) ?? ""
        }
        /// Whether its body was in chunks for S3.
        var isFramed: Bool { self["x-amz-content-sha256"]?.hasPrefix("STREAMING-") == true }
        var isOfCall: Bool { ["item", "away", "upload"].contains(path) }
        /// Whether it has bytes of an upload.
        var isChunk: Bool { path == "upload" && method == "PATCH" }
        var call: String { self["x-call"] ?? "none" }
        /// Whether the server has done what a second request would do once more.
        var isProcessed: Bool { isOfCall && body != nil && isSigned && step?.processes == true }
    }

    /// Serves one case and keeps what it has seen. A class, because the threads of its servers share it.
    final class Scene: Sendable {
        private struct State {
            var seen: [Seen] = []
            var nextSteps: [String: Int] = [:]
            var tokens: Set<String> = []
            var tokenCount = 0
            var nonces: Set<String> = []
            var counts: Set<String> = []
            var uploads: Uploads
            var isHeld: Bool
            var seconds = 0.0
        }

        let testCase: Case
        private let state: Mutex<State>
        private let servers = Mutex<[Site: RawServer]>([:])
        private let release = DispatchSemaphore(value: 0)
        /// Yields when a response is held back, or the call has ended before.
        let arrivals: AsyncStream<Void>
        private let arrived: AsyncStream<Void>.Continuation

        init(_ testCase: Case) {
            self.testCase = testCase
            (arrivals, arrived) = AsyncStream.makeStream()
            let isHeld = !testCase.is(.ending, "complete", "drop", "reset-late")
            state = Mutex(State(uploads: Uploads(isDraft: testCase.isUploadDraft), isHeld: isHeld))
            for site in Site.allCases {
                let server = RawServer(tls: testCase[.transport] == "tls" ? Self.tls : nil) {
                    [weak self] connection, number in
                    self?.serve(connection, number, at: site)
                    connection.close()
                }
                servers.withLock { $0[site] = server }
            }
        }

        var seen: [Seen] { state.withLock { $0.seen } }
        var uploads: Uploads { state.withLock { $0.uploads } }

        /// The time of the server, of caches and of signatures.
        var now: Date { Date(timeIntervalSinceNow: state.withLock { $0.seconds }) }

        func pass(_ seconds: Double) { state.withLock { $0.seconds += seconds } }

        func origin(_ site: Site) -> String {
            let port = nginx?.ports[site] ?? servers.withLock { $0[site]?.port ?? 0 }
            return "\(testCase.scheme)://\(site == .other ? "localhost" : "127.0.0.1"):\(port)"
        }

        func url(_ site: Site, _ path: String) -> String { origin(site) + prefix + path }

        /// The beginning of each path: with nginx, the port of the server that receives all requests of the case from
        /// it.
        var prefix: String { nginx == nil ? "" : "/\(servers.withLock { $0[.api]?.port ?? 0 })" }

        private var nginx: Nginx? { testCase[.transport] == "http2" ? Nginx.shared : nil }

        /// Lets a held response continue, and ends the wait for one.
        func letGo() {
            state.withLock { $0.isHeld = false }
            arrived.yield()
            release.signal()
        }

        func stop() {
            letGo()
            for server in servers.withLock({ $0.values }) { server.stop() }
        }

        func newToken() -> String {
            state.withLock { state in
                state.tokenCount += 1
                state.tokens.insert("t\(state.tokenCount)")
                return "t\(state.tokenCount)"
            }
        }

        private static let tls = RawTLS()

        // MARK: A connection

        private func serve(_ connection: RawConnection, _ number: Int, at site: Site) {
            var earlier = 0
            while let head = connection.readHead() {
                let lines = head.split(separator: "\r\n").map(String.init)
                let words = (lines.first ?? "").split(separator: " ").map(String.init)
                guard words.count == 3 else { return }
                let fields = lines.dropFirst().map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return (
                        name: parts[0].lowercased(),
                        value: parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                    )
                }
                let named = fields.first { $0.name == "x-site" }.flatMap { Site(rawValue: $0.value) }
                let site = named ?? site
                var seen = Seen(
                    site: site, connection: number, earlier: earlier, method: words[0], target: words[1], fields: fields
                )
                seen.isSigned = site == .other || seen.path == "token" || isSigned(seen)
                let place = note(&seen)
                if seen.step == .early {
                    var response = Response(413, seen, self)
                    response.endsWithConnection = true
                    connection.write(response.bytes)
                    connection.endOutput()
                    _ = connection.waitForEnd()
                    return
                }
                if seen["expect"] != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
                guard let sent = connection.readBody(of: head) else { return }
                let body = seen.isFramed ? Content.unframed(sent) ?? sent : sent
                state.withLock { $0.seen[place].body = body }
                seen.body = body
                guard respond(to: seen, at: place, over: connection) else { return }
                earlier += 1
            }
        }

        /// Adds a request to what was seen, and chooses the step for it.
        private func note(_ seen: inout Seen) -> Int {
            state.withLock { state in
                // The plan of an upload is for its chunks.
                if seen.isOfCall, testCase.isUpload, !seen.isChunk {
                    seen.step = .ok
                } else if seen.isOfCall, seen.isSigned {
                    let steps = testCase.steps
                    let number = state.nextSteps[seen.call, default: 0]
                    state.nextSteps[seen.call] = number + 1
                    var step = steps[min(number, steps.count - 1)]
                    if step == .stale, seen.earlier == 0 { step = .ok }
                    seen.step = step
                }
                state.seen.append(seen)
                return state.seen.count - 1
            }
        }

        private func respond(to seen: Seen, at place: Int, over connection: RawConnection) -> Bool {
            let isHeld =
                testCase.is(.ending, "cancel", "reset", "deadline")
                || testCase.isUpload && testCase.is(.ending, "cancel-body", "reset-body")
            if seen.isOfCall, isHeld, !testCase.isUpload || seen.isChunk { hold() }
            var response: Response
            switch seen.path {
            case "token":
                response = Response(200, seen, self)
                response.type = "application/json"
                response.body = Array("{\"access_token\":\"\(newToken())\",\"token_type\":\"Bearer\"}".utf8)
            case _ where !seen.isSigned: response = challenge(seen)
            case "item", "away", "upload": return perform(seen.step ?? .ok, seen, at: place, over: connection)
            default:
                response = Response(200, seen, self)
                response.body = Array("plain".utf8)
            }
            state.withLock { $0.seen[place].status = response.status }
            return connection.write(response.bytes)
        }

        private func perform(_ step: Step, _ seen: Seen, at place: Int, over connection: RawConnection) -> Bool {
            var response = Response(200, seen, self)
            if testCase.isUpload { update(&response, seen, step) } else { response.fill() }
            switch step {
            case .reset:
                connection.reset()
                return false
            case .stale: return false
            case .status(let status): response = Response(status, seen, self)
            case .busy(let status):
                response = Response(status, seen, self)
                response.fields.append("Retry-After: 0")
            case .page:
                response = Response(503, seen, self)
                response.body = Array(repeating: UInt8(ascii: "p"), count: 40_000)
            case .redirect(let status, let isAway):
                response = Response(status, seen, self)
                response.body = status == 307 ? [] : Array("moved".utf8)
                response.isChunked = status == 302
                let page = testCase.isUpload ? "upload" : isAway ? "away" : "item"
                let target = isAway ? url(.other, "/\(page)") : "\(response.base)\(prefix)/api/\(page)"
                let query = testCase.isUpload ? seen.target.split(separator: "?").last.map { "&\($0)" } ?? "" : ""
                response.fields.append("Location: \(target)?hop=1\(query)")
            case .refuse:
                if let token = seen["authorization"]?.split(separator: " ").last {
                    _ = state.withLock { $0.tokens.remove(String(token)) }
                }
                response = challenge(seen)
            case .interim:
                response.before =
                    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
            case .untilClose: response.endsWithConnection = true
            case .gzip where response.status == 200:
                response.body = Content.gzip(response.body)
                response.fields.append("Content-Encoding: gzip")
            case .slow: usleep(40_000)
            case .pieces, .cutChunks: response.isChunked = true
            case .ok, .cut, .early, .gzip: break
            }
            state.withLock { $0.seen[place].status = response.status }
            let bytes = response.bytes
            let half = bytes.count - response.body.count / 2
            if [.cut, .cutChunks].contains(step), testCase.isUpload { return false }
            if [.cut, .cutChunks].contains(step), response.hasBody {
                connection.write(Array(bytes[..<half]))
                return false
            }
            if response.status < 300, response.hasBody, testCase.is(.ending, "cancel-body", "reset-body", "drop") {
                connection.write(Array(bytes[..<half]))
                if testCase[.ending] != "drop" { hold() }
                return connection.write(Array(bytes[half...])) && !response.endsWithConnection
            }
            let isOpen = connection.write(bytes) && !response.endsWithConnection
            if testCase[.ending] == "reset-late", !testCase.isUpload || seen.isChunk { arrived.yield() }
            return isOpen
        }

        /// Makes it the response to a request of an upload. A connection that is cut loses half of the chunk or only
        /// the response.
        private func update(_ response: inout Response, _ seen: Seen, _ step: Step) {
            guard step.storesUpload else { return }
            let place = testCase.isUploadAway ? url(.other, "") : "\(response.base)\(prefix)/api"
            let (status, fields) = state.withLock {
                $0.uploads.respond(to: seen, at: place, share: step == .cut ? 0.5 : 1)
            }
            response.status = status
            response.fields += fields
        }

        /// Holds the first response back until the caller has done what ends the call.
        private func hold() {
            let isFirst = state.withLock { state in
                defer { state.isHeld = false }
                return state.isHeld
            }
            guard isFirst else { return }
            arrived.yield()
            _ = release.wait(timeout: .now() + 3)
        }

        // MARK: Credentials

        private func isSigned(_ seen: Seen) -> Bool {
            let authorization = seen["authorization"]
            switch testCase[.authentication] {
            case "basic", "challenge": return authorization == Self.basic
            case "bearer", "asked": return authorization == "Bearer static"
            case "key": return seen["x-api-key"] == "key"
            case "provider", "oauth", "oauth-home", "session":
                return state.withLock { state in
                    authorization.map { state.tokens.contains(String($0.dropFirst(7))) } ?? false
                }
            case "signing":
                // A strict server: each number is accepted once, and for this request only.
                guard let parts = seen["x-signature"]?.split(separator: " ").map(String.init), parts.count == 4,
                    parts[1] == seen.method, parts[2] == seen.target
                else { return false }
                return state.withLock { $0.counts.insert(parts[0]).inserted }
            case "chunks": return authorization?.hasPrefix("AWS4-HMAC-SHA256 Credential=key/") == true
            case "digest":
                guard let authorization, let nonce = Self.parameter("nonce", of: authorization),
                    let count = Self.parameter("nc", of: authorization)
                else { return false }
                // A strict server: each count of a nonce is accepted once (RFC 7616, 3.4).
                return state.withLock { $0.nonces.contains(nonce) && $0.counts.insert("\(nonce) \(count)").inserted }
            default: return true
            }
        }

        private func challenge(_ seen: Seen) -> Response {
            var response = Response(401, seen, self)
            switch testCase[.authentication] {
            case "digest":
                let nonce = state.withLock { state in
                    state.tokenCount += 1
                    state.nonces.insert("n\(state.tokenCount)")
                    return "n\(state.tokenCount)"
                }
                let isStale = seen["authorization"] != nil && !seen.isSigned
                response.fields.append(
                    "WWW-Authenticate: Digest realm=\"r\", qop=\"auth\", algorithm=MD5, nonce=\"\(nonce)\""
                        + (isStale ? ", stale=true" : ""))
            case "provider", "oauth", "oauth-home", "session", "bearer", "asked":
                response.fields.append("WWW-Authenticate: Bearer realm=\"r\"")
            default: response.fields.append("WWW-Authenticate: Basic realm=\"r\"")
            }
            return response
        }

        static let basic = "Basic dTpw"

        static func parameter(_ name: String, of value: String) -> String? {
            value.split(whereSeparator: { ", ".contains($0) }).first { $0.hasPrefix("\(name)=") }
                .map { $0.dropFirst(name.count + 1).replacingOccurrences(of: "\"", with: "") }
        }
    }

    extension Case {
        var scheme: String { self.is(.transport, "tls", "http2") ? "https" : "http" }
    }

    /// The bytes of one response.
    struct Response {
        var status: Int
        var body: [UInt8] = []
        var fields: [String] = []
        var type = "text/plain"
        var before = ""
        var isChunked = false
        var endsWithConnection = false
        private let seen: Seen
        private let testCase: Case
        private let now: Date
        /// Like a server that writes URLs from the field Host.
        let base: String

        init(_ status: Int, _ seen: Seen, _ scene: Scene) {
            (self.status, self.seen, testCase, now) = (status, seen, scene.testCase, scene.now)
            base = "\(testCase.scheme)://\(seen["host"] ?? "")"
            fields = ["Set-Cookie: \(seen.site == .other ? "other" : "api")=1; Path=/; Max-Age=3600"]
            if status >= 400 { body = Array("error".utf8) }
        }

        var hasBody: Bool { seen.method != "HEAD" && status != 204 && status != 304 && !body.isEmpty }

        /// Makes it the successful response: the whole content, a part of it, or the confirmation of what is stored.
        mutating func fill() {
            let last = seen["last-event-id"].flatMap { Int($0) } ?? 0
            let isFirst = testCase.isPaged && !seen.target.contains("page=2")
            let next = isFirst ? "\(base)\(seen.target.prefix { $0 != "?" })?page=2" : nil
            (body, type) = (Content.bytes(for: testCase, after: last, next: next), Content.type(for: testCase))
            if let next { fields.append("Link: <\(next)>; rel=\"next\"") }
            fields.append("ETag: \(Content.tag)")
            switch testCase[.cache] {
            case "fresh", "files": fields.append("Cache-Control: public, max-age=600")
            case "validate": fields.append("Cache-Control: public, no-cache")
            case "stale": fields.append("Cache-Control: public, max-age=0, stale-while-revalidate=600")
            default: break
            }
            if testCase[.delivery] == "reconnecting", body.isEmpty { return status = 204 }
            if seen["if-none-match"] == Content.tag, ["GET", "HEAD"].contains(seen.method) {
                (status, body) = (304, [])
            } else if let range = seen["range"], seen["if-range"] ?? Content.tag == Content.tag,
                let start = Int(range.dropFirst(6).split(separator: "-").first ?? ""), start < body.count
            {
                status = 206
                fields.append("Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)")
                body.removeFirst(start)
            }
        }

        var bytes: [UInt8] {
            var head = before + "HTTP/1.1 \(status) Status\r\n"
            for field in fields + signature { head += field + "\r\n" }
            if endsWithConnection { head += "Connection: close\r\n" }
            if status != 204, status != 304 {
                head += "Content-Type: \(type)\r\n"
                if !endsWithConnection {
                    head += isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(body.count)\r\n"
                }
            }
            return Array((head + "\r\n").utf8) + (seen.method == "HEAD" || status == 204 || status == 304 ? [] : sent)
        }

        /// The fields of a signature (RFC 9421) with a digest and a field that is another one in each response.
        private var signature: [String] {
            guard testCase[.authentication] == "verified" else { return [] }
            let time = "\(Int(now.timeIntervalSince1970))"
            let digest = Data(SHA256Hash.hash(hasBody ? body : [])).base64EncodedString()
            let values = ["@status": "\(status)", "x-time": time, "content-digest": "sha-256=:\(digest):"]
            let names = testCase.signed
            let input = "(\(names.map { "\"\($0)\"" }.joined(separator: " ")));created=\(time)"
            let base = names.map { "\"\($0)\": \(values[$0] ?? "")\n" }.joined() + "\"@signature-params\": \(input)"
            let code = Data(Content.code(of: Array(base.utf8))).base64EncodedString()
            let fields = values.filter { $0.key != "@status" }.map { "\($0): \($1)" }
            return fields + ["Signature-Input: a=\(input)", "Signature: a=:\(code):"]
        }

        private var sent: [UInt8] {
            guard isChunked, !endsWithConnection else { return body }
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: body.count, by: 500) {
                let piece = body[start..<min(start + 500, body.count)]
                bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
            }
            return bytes + Array("0\r\n\r\n".utf8)
        }
    }
#endif
