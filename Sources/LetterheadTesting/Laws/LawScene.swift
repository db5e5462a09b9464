// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// The surroundings in which a loader is checked. The scene responds to `/answer/…`, and suspends `/hang` until the
/// request is cancelled or the loader is reset.
protocol LawScene: Sendable {
    /// The loader to check, or the chain of the link to check and the scene's loader.
    var loader: any HTTPLoader { get }
    /// Whether the loader reaches a server, so that it must refuse malformed requests.
    var isWire: Bool { get }
    /// The link to check over a throttle with one slot, and that throttle; nil for a loader.
    var throttled: (loader: any HTTPLoader, throttle: Throttle)? { get }
    /// The events below the loader.
    var record: LawRecord { get }
    /// Returns a request for a path of the scene.
    func request(_ path: String) -> HTTPRequest
    func stop() async
}

/// The events below a loader. This type is a class because the requests and the check share it.
final class LawRecord: Sendable {
    struct Facts: Sendable {
        var arrivals: [String: Int] = [:]
        var ids: Set<HTTPRequest.ID> = []
        var hangsEnded = 0
        var resets = 0
    }

    private let facts = Mutex(Facts())

    var now: Facts { facts.withLock { $0 } }

    func note(_ change: (inout Facts) -> Void) { facts.withLock { change(&$0) } }
}

/// A link, followed by a loader of the scene.
struct LinkScene: LawScene {
    let loader: any HTTPLoader
    let throttled: (loader: any HTTPLoader, throttle: Throttle)?
    let record = LawRecord()
    let isWire = false

    init(_ link: any LoaderLink) {
        let (end, throttle) = (LawLoader(record: record), Throttle(limit: 1))
        (loader, throttled) = (link --> end, (link --> throttle --> end, throttle))
    }

    func request(_ path: String) -> HTTPRequest {
        HTTPRequest(url: URL(string: "https://laws.example\(path)") ?? URL(filePath: path))
    }

    func stop() async {}
}

/// A loader that sends requests to a server.
struct WireScene: LawScene {
    let loader: any HTTPLoader
    let record: LawRecord
    let isWire = true
    let throttled: (loader: any HTTPLoader, throttle: Throttle)? = nil
    private let server: MockServer

    init(_ loader: any HTTPLoader) async throws {
        let record = LawRecord()
        self.record = record
        self.loader = loader
        server = try await MockServer.start { request in
            record.note { $0.arrivals[request.path, default: 0] += 1 }
            guard request.path == "/hang" else { return MockServer.Response(body: Data(request.path.utf8)) }
            defer { record.note { $0.hangsEnded += 1 } }
            try await Task.sleep(for: .seconds(600))
            return MockServer.Response()
        }
    }

    func request(_ path: String) -> HTTPRequest { HTTPRequest(url: server.url.appendingPathComponent(path)) }

    func stop() async { await server.stop() }
}

/// Responds with the path, or suspends until the request is cancelled or the loader is reset. This type is a class
/// because the requests and a reset share the list of suspended requests.
final class LawLoader: HTTPLoader {
    private let record: LawRecord
    /// The suspended calls. A link may call several times with one request.
    private let hanging = Mutex<[UUID: CheckedContinuation<Void, Never>]>([:])

    init(record: LawRecord) { self.record = record }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let path = request.path.string
        if path == "/hang" {
            await hang(UUID()) { note(request) }
            record.note { $0.hangsEnded += 1 }
            throw HTTPError(.cancelled, request: request)
        }
        note(request)
        if let kind = Self.repeats[path] {
            return Self.repeated(request, record.now.arrivals[path] == 2 ? kind : nil)
        }
        return HTTPResponse(
            request: request, status: .ok, body: HTTPResponseBody(Data(request.path.string.utf8)))
    }

    /// The responses that make a link call the next loader again.
    static let repeats: [String: (status: HTTPStatus, headers: HTTPHeaders)] = [
        "/repeat/302": (.found, ["Location": "?again"]),
        "/repeat/304": (.notModified, ["ETag": "\"other\""]),
        "/repeat/401": (
            .unauthorized, ["WWW-Authenticate": #"Digest realm="law", nonce="1", qop="auth", Basic realm="law""#]
        ),
        "/repeat/503": (.serviceUnavailable, ["Retry-After": "0"]),
        "/repeat/truncated": (.ok, ["ETag": "\"law\""]),
    ]

    /// The second response of a path is the one of its kind; the others are nil, and a cache validates them.
    private static func repeated(
        _ request: HTTPRequest, _ kind: (status: HTTPStatus, headers: HTTPHeaders)?
    ) -> HTTPResponse {
        var response = HTTPResponse(
            request: request, status: kind?.status ?? .ok,
            headers: kind?.headers ?? ["ETag": "\"law\"", "Cache-Control": "no-cache"])
        if request.headers.contains(.range) {
            (response.status, response.headers[.contentRange]) = (.partialContent, "bytes 3-5/6")
        }
        let isTruncated = kind?.status == .ok
        let pieces = Mutex(response.status == .partialContent || isTruncated ? 1 : 2)
        response.body = HTTPResponseBody(length: isTruncated ? 6 : nil) {
            let left = pieces.withLock { pieces in
                pieces -= 1
                return pieces
            }
            if left >= 0 { return Data("law".utf8) }
            if isTruncated { throw HTTPError(.connectionLost, request: request) }
            return nil
        }
        return response
    }

    func reset() async {
        record.note { $0.resets += 1 }
        let ended = hanging.withLock { hanging in
            defer { hanging = [:] }
            return Array(hanging.values)
        }
        for waiter in ended { waiter.resume() }
    }

    private func note(_ request: HTTPRequest) {
        record.note { facts in
            facts.arrivals[request.path.string, default: 0] += 1
            facts.ids.insert(request.id)
        }
    }

    /// - Parameter arrived: called when a reset ends the request.
    private func hang(_ id: UUID, arrived: () -> Void) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isLate = hanging.withLock { hanging in
                    if !Task.isCancelled { hanging[id] = waiter }
                    return hanging[id] == nil
                }
                arrived()
                if isLate { waiter.resume() }
            }
        } onCancel: {
            hanging.withLock { $0.removeValue(forKey: id) }?.resume()
        }
    }
}
