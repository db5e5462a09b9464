// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation
    import Synchronization

    /// A server of tus 1.0.0 or of the IETF's resumable uploads, with faults. It is strict: what a protocol forbids is
    /// a fault in ``faults``. Several threads share it.
    package final class UploadServer: Sendable {
        package enum Kind: String, Sendable, CaseIterable { case tus, draft }

        /// What happens to a request instead of the usual.
        package enum Effect: Sendable {
            /// Takes so many bytes of the chunk, and closes the connection.
            case cut(after: Int)
            /// Takes so many bytes of the chunk, and then waits until the client ends the connection.
            case stall(after: Int)
            /// Does everything, and closes the connection without a response.
            case lost
            /// Takes so many bytes of the chunk, and responds with their offset.
            case partial(Int)
            /// Takes nothing, and sends this head.
            case response(String)
            /// Adds or replaces header fields of the response.
            case fields([String: String])
            /// Forgets all uploads first.
            case forget

            /// Creates an upload at another URL.
            package static func created(at location: String, _ kind: Kind) -> Effect {
                let field = kind == .tus ? "Tus-Resumable: 1.0.0" : "Upload-Complete: ?0"
                return .response(
                    "HTTP/1.1 201 Created\r\nLocation: \(location)\r\n\(field)\r\nContent-Length: 0\r\n\r\n")
            }
        }

        package struct Seen: Sendable {
            package let method: String
            package let path: String
            package let headers: [String: String]
            /// How many bytes of the body were received.
            package var received = 0

            package var offset: Int? { headers["upload-offset"].flatMap { Int($0) } }
            package func lacks(_ header: String) -> Bool { headers[header] == nil }
        }

        package struct Upload: Sendable {
            package var bytes = Data()
            package var count = 0
            package let length: Int
            package var isComplete = false
            /// The number of the last request. A new request ends the one before, as the draft recommends.
            fileprivate var user = 0
        }

        private struct State {
            var uploads: [String: Upload] = [:]
            var deleted = 0
            var seen: [Seen] = []
            var faults: [String] = []
            var effects: [String: [Effect]] = [:]
        }

        package struct Options: Sendable {
            /// Added to the responses to OPTIONS, and by the draft to all others.
            package var fields: [String: String] = [:]
            package var keepsBytes = true
            /// A pause after each 16 KiB, in microseconds.
            package var pause: UInt32 = 0
            package var origin = ""
            /// The SHA-256 hash of a message, for checksums. Without it, each checksum is wrong.
            package var hash: (@Sendable ([UInt8]) -> [UInt8])?
        }

        package let kind: Kind
        private let options: Options
        private let state = Mutex(State())
        private let raw: Mutex<RawServer?> = Mutex(nil)

        package init(_ kind: Kind, _ change: (inout Options) -> Void = { _ in }) {
            var options = Options()
            change(&options)
            (self.kind, self.options) = (kind, options)
            let server = RawServer { [weak self] connection, _ in
                while let head = connection.readHead(), self?.respond(to: head, on: connection) == true {}
                connection.close()
            }
            raw.withLock { $0 = server }
        }

        deinit { stop() }

        package func stop() { raw.withLock { $0 }?.stop() }
        package var url: URL { raw.withLock { $0?.url("") } ?? URL(filePath: "/") }
        package var seen: [Seen] { state.withLock { $0.seen } }
        package var methods: [String] { seen.map(\.method) }
        package var appends: [Seen] { seen.filter { $0.method == "PATCH" } }
        package var faults: [String] { state.withLock { $0.faults } }
        package var uploads: [Upload] { state.withLock { Array($0.uploads.values) } }
        package var deletedCount: Int { state.withLock { $0.deleted } }
        /// The content of the uploads that are complete.
        package var complete: [Data] { uploads.filter(\.isComplete).map(\.bytes) }

        /// Queues what happens to the next requests with a method.
        package func enqueue(_ method: String, _ effects: Effect...) {
            state.withLock { $0.effects[method, default: []] += effects }
        }

        /// Creates an upload as a request with the usual length does, and returns its path.
        package func create(length: Int) -> String {
            state.withLock { state in
                state.uploads["/uploads/made"] = Upload(length: length)
                return "/uploads/made"
            }
        }

        package func forget() { state.withLock { $0.uploads = [:] } }

        private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

        private func respond(to head: String, on connection: RawConnection) -> Bool {
            let lines = head.components(separatedBy: "\r\n")
            let words = lines[0].components(separatedBy: " ")
            guard words.count == 3 else { return false }
            let fields = lines.dropFirst().compactMap { line -> (String, String)? in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                return (
                    line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                )
            }
            let seen = Seen(
                method: words[0], path: words[1], headers: Dictionary(fields) { first, second in "\(first), \(second)" }
            )
            let (number, effect) = state.withLock { state in
                state.seen.append(seen)
                let effect =
                    state.effects[seen.method]?.isEmpty == false ? state.effects[seen.method]?.removeFirst() : nil
                if case .forget = effect { state.uploads = [:] }
                state.uploads[seen.path]?.user = state.seen.count - 1
                return (state.seen.count - 1, effect)
            }
            var answer: (status: Int, fields: [String: String], body: String)
            if case .response(let text) = effect {
                if seen.headers["expect"] == nil, !connection.skipBody(of: head) { return false }
                connection.write(text)
                return !text.contains("Connection: close")
            }
            switch seen.method {
            case "OPTIONS": answer = announcement
            case "POST", "PUT": answer = create(seen)
            case "HEAD": answer = offset(of: seen)
            case "PATCH":
                guard let appended = append(seen, number, effect, connection) else { return false }
                answer = appended
            case "DELETE":
                let isKnown = state.withLock { state in
                    state.deleted += 1
                    return state.uploads.removeValue(forKey: seen.path) != nil
                }
                answer = (isKnown ? 204 : 404, [:], "")
            default: answer = (405, [:], "")
            }
            if case .lost = effect { return false }
            if case .fields(let fields) = effect { answer.fields.merge(fields) { _, new in new } }
            if kind == .tus { answer.fields["Tus-Resumable"] = "1.0.0" }
            let own = answer.fields.map { "\($0): \($1)\r\n" }.joined()
            let length = answer.status == 204 ? "" : "Content-Length: \(answer.body.utf8.count)\r\n"
            return connection.write("HTTP/1.1 \(answer.status) X\r\n\(own)\(length)\r\n\(answer.body)")
        }

        private typealias Answer = (status: Int, fields: [String: String], body: String)

        private var limits: [String: String] {
            kind == .tus ? [:] : ["Upload-Limit": "min-size=0"].merging(options.fields) { _, new in new }
        }

        private var announcement: Answer {
            let own =
                kind == .tus
                ? [
                    "Tus-Version": "1.0.0,0.2.2", "Tus-Extension": "creation,expiration,checksum,termination",
                    "Tus-Checksum-Algorithm": "sha1,sha256",
                ] : ["Upload-Limit": "min-size=0"]
            return (204, own.merging(options.fields) { _, new in new }, "")
        }

        private func check(_ seen: Seen) -> Bool {
            let isRight =
                kind == .tus
                ? seen.headers["tus-resumable"] == "1.0.0" : seen.headers["upload-draft-interop-version"] == "8"
            if !isRight { fault("\(seen.method) without the version") }
            return isRight
        }

        private func create(_ seen: Seen) -> Answer {
            guard check(seen), seen.headers["content-length"] ?? "0" == "0" else { return (412, [:], "") }
            guard let length = seen.headers["upload-length"].flatMap({ Int($0) }) else { return (400, [:], "") }
            if kind == .draft, seen.headers["upload-complete"] != "?0" { fault("a creation that ends") }
            let path = state.withLock { state in
                let path = "/uploads/\(state.seen.count)?key=capability"
                state.uploads[path] = Upload(length: length, isComplete: kind == .tus && length == 0)
                return path
            }
            var fields = limits
            fields["Location"] = options.origin + path
            if kind == .draft { fields["Upload-Complete"] = "?0" }
            return (201, fields, "")
        }

        private func offset(of seen: Seen) -> Answer {
            guard check(seen), let upload = state.withLock({ $0.uploads[seen.path] }) else { return (404, [:], "") }
            var fields = limits
            fields["Upload-Offset"] = "\(upload.count)"
            fields["Upload-Length"] = "\(upload.length)"
            fields["Cache-Control"] = "no-store"
            if kind == .draft { fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0" }
            return (kind == .tus ? 200 : 204, fields, "")
        }

        /// nil if the connection ends.
        private func append(_ seen: Seen, _ number: Int, _ effect: Effect?, _ connection: RawConnection) -> Answer? {
            let length = seen.headers["content-length"].flatMap { Int($0) } ?? -1
            if length < 0 { fault("a chunk without a length") }
            if seen.headers["expect"] != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
            let type = kind == .tus ? "application/offset+octet-stream" : "application/partial-upload"
            if seen.headers["content-type"] != type { fault("a chunk of another type") }
            guard check(seen), let upload = state.withLock({ $0.uploads[seen.path] }) else {
                return connection.skip(length) ? (404, [:], "") : nil
            }
            guard seen.offset == upload.count else {
                fault("a chunk at \(seen.offset ?? -1) instead of \(upload.count)")
                return connection.skip(length)
                    ? (409, ["Upload-Offset": "\(upload.count)", "Upload-Complete": "?0"], "") : nil
            }
            if upload.isComplete, length > 0 { fault("a chunk after the end") }
            var most = length
            if case .cut(let count) = effect { most = min(most, count) }
            if case .partial(let count) = effect { most = min(most, count) }
            if case .stall(let count) = effect { most = min(most, count) }
            let digest = seen.headers["upload-checksum"] ?? seen.headers["content-digest"]
            if let digest {
                guard let bytes = connection.read(length) else { return nil }
                let right = options.hash.map { Data($0(Array(bytes))).base64EncodedString() } ?? ""
                guard digest == (kind == .tus ? "sha256 \(right)" : "sha-256=:\(right):") else { return (460, [:], "") }
                guard take(bytes, seen.path, number) else { return nil }
            } else {
                var left = most
                while left > 0 {
                    guard let bytes = connection.read(min(left, 16 << 10)) else { return nil }
                    guard take(bytes, seen.path, number) else { return nil }
                    left -= bytes.count
                    if options.pause > 0 { usleep(options.pause) }
                }
            }
            if case .cut = effect { return nil }
            if case .stall = effect { return connection.waitForEnd() ? nil : nil }
            guard connection.skip(length - (digest == nil ? most : length)) else { return nil }
            return appended(seen)
        }

        private func take(_ bytes: Data, _ path: String, _ number: Int) -> Bool {
            state.withLock { state in
                guard state.uploads[path]?.user == number else { return false }
                state.seen[number].received += bytes.count
                state.uploads[path]?.count += bytes.count
                if options.keepsBytes { state.uploads[path]?.bytes.append(bytes) }
                return true
            }
        }

        private func appended(_ seen: Seen) -> Answer {
            let isLast = kind == .tus || seen.headers["upload-complete"] == "?1"
            let upload = state.withLock { state -> Upload? in
                guard let upload = state.uploads[seen.path] else { return nil }
                state.uploads[seen.path]?.isComplete = isLast && upload.count == upload.length
                return state.uploads[seen.path]
            }
            guard let upload else { return (404, [:], "") }
            guard kind == .draft else { return (204, ["Upload-Offset": "\(upload.count)"], "") }
            var fields = limits
            fields["Upload-Complete"] = upload.isComplete ? "?1" : "?0"
            fields["Upload-Offset"] = "\(upload.count)"
            return upload.isComplete ? (200, fields, "{\"id\":7}") : (204, fields, "")
        }
    }
#endif
