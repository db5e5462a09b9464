// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// The surroundings for checking a loader or a link. The scene responds to requests for `/answer/…`, and suspends a
/// request for `/hang` until it is cancelled or reset.
struct LawScene: Sendable {
    /// The calls that have arrived below the loader.
    struct Facts: Sendable {
        var arrivals: [String: Int] = [:]
        var ids: Set<HTTPRequest.ID> = []
        var hangsEnded = 0
        var resets = 0
    }

    /// The loader to check, or the link to check with a ``LawLoader`` below.
    let loader: any HTTPLoader
    /// A link above a throttle with one slot, and that throttle. Nil if a loader is checked.
    let throttled: (loader: any HTTPLoader, throttle: Throttle)?
    /// The server that a loader sends requests to. It also shows whether a loader has sent a malformed request. Nil if
    /// a link is checked.
    let server: MockServer?
    let record: Watched<Facts>

    init(link: any LoaderLink) {
        record = Watched(Facts())
        let (end, throttle) = (LawLoader(record: record), Throttle(limit: 1))
        (loader, throttled, server) = (link --> end, (link --> throttle --> end, throttle), nil)
    }

    init(loader: any HTTPLoader) async throws {
        let record = Watched(Facts())
        (self.record, self.loader, throttled) = (record, loader, nil)
        server = try await MockServer.start { request in
            record.change { $0.arrivals[request.path, default: 0] += 1 }
            guard request.path == "/hang" else { return MockServer.Response(body: Data(request.path.utf8)) }
            defer { record.change { $0.hangsEnded += 1 } }
            try await Task.sleep(for: .seconds(600))
            return MockServer.Response()
        }
    }

    /// Returns a request for a path of the scene.
    func request(_ path: String) -> HTTPRequest {
        let base = server?.url ?? URL(string: "https://laws.example") ?? URL(filePath: "/")
        return HTTPRequest(url: base.appendingPathComponent(path))
    }

    /// Begins to load a request with this path. The attempt can be awaited or cancelled.
    func load(_ path: String) -> Attempt<HTTPResponse> { load(request(path)) }

    func load(_ request: HTTPRequest) -> Attempt<HTTPResponse> { Attempt { try await loader.load(request) } }
}

/// Responds with the path, or suspends until a cancellation or a reset.
///
/// This type is a class because requests and a reset share the suspended calls.
final class LawLoader: HTTPLoader {
    private let record: Watched<LawScene.Facts>
    /// The suspended calls. A link may call the loader several times for one request.
    private let hanging = Mutex<[OneShot<Void>]>([])

    init(record: Watched<LawScene.Facts>) { self.record = record }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let path = request.path.string
        let end = path == "/hang" ? OneShot<Void>() : nil
        // The call is added before it is reported, so that a reset after its arrival finds it.
        if let end { hanging.withLock { $0.append(end) } }
        record.change { facts in
            facts.arrivals[path, default: 0] += 1
            facts.ids.insert(request.id)
        }
        if let end {
            await end.value(within: nil, on: ContinuousClock(), onTimeout: {}, onCancel: { end.set(()) })
            record.change { $0.hangsEnded += 1 }
            throw HTTPError(.cancelled, request: request)
        }
        if let kind = Self.repeats[path] {
            return Self.repeated(request, record.value.arrivals[path] == 2 ? kind : nil)
        }
        return HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(Data(path.utf8)))
    }

    /// The responses that make a link call the next loader a second time.
    static let repeats: [String: (status: HTTPStatus, headers: HTTPHeaders)] = [
        "/repeat/302": (.found, ["Location": "?again"]),
        "/repeat/304": (.notModified, ["ETag": "\"other\""]),
        "/repeat/401": (
            .unauthorized, ["WWW-Authenticate": #"Digest realm="law", nonce="1", qop="auth", Basic realm="law""#]
        ),
        "/repeat/503": (.serviceUnavailable, ["Retry-After": "0"]),
        "/repeat/truncated": (.ok, ["ETag": "\"law\""]),
    ]

    /// Returns a response. A path has the given kind of response only for its second request. Other responses can be
    /// stored, but a cache must validate them.
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
        let pieces = Atomic(response.status == .partialContent || isTruncated ? 1 : 2)
        response.body = HTTPResponseBody(length: isTruncated ? 6 : nil) {
            if pieces.subtract(1, ordering: .relaxed).newValue >= 0 { return Data("law".utf8) }
            if isTruncated { throw HTTPError(.connectionLost, request: request) }
            return nil
        }
        return response
    }

    func reset() async {
        record.change { $0.resets += 1 }
        let ended = hanging.withLock { hanging in
            defer { hanging = [] }
            return hanging
        }
        for end in ended { end.set(()) }
    }
}

/// A request that may never end. The wait for its result is limited.
///
/// This type is a class because its task and its waiters share one result. When the last reference is dropped, the task
/// is cancelled.
final class Attempt<Value: Sendable>: Sendable {
    private let task: Task<Void, Never>
    private let outcome = Watched<Result<Value, any Error>?>(nil)

    init(_ operation: @escaping @Sendable () async throws -> Value) {
        task = Task { [outcome] in
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            outcome.change { $0 = result }
        }
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }

    /// Returns the result, or nil if the request doesn't end in time.
    func result(within patience: Duration) async -> Result<Value, any Error>? {
        await outcome.value(within: patience) { $0 != nil } ?? nil
    }
}
