// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTransfers
import Synchronization
import Testing

/// The bytes of a resource.
let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

/// A folder with a file that was there before. It is a class because it removes the folder.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "transfers-\(UInt64.random(in: 0 ... .max))")
    var file: URL { url.appending(path: "video.mp4") }
    var part: URL { url.appending(path: ".video.mp4.letterhead-part") }

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data("before".utf8).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var saved: Data? { try? Data(contentsOf: file) }
    /// nil if there is no part.
    var partCount: Int? { (try? Data(contentsOf: part))?.count }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
    /// Whether the download is complete, and nothing else is left of it.
    var isComplete: Bool { saved == content && names == ["video.mp4"] }
    var isUntouched: Bool { saved == Data("before".utf8) }
}

/// The responses of a server, one for each request. The last one is used for all later requests.
final class Script: Sendable {
    typealias Step = @Sendable (MockServer.Request) -> MockServer.Response
    private let steps: Mutex<[Step]>

    init(_ steps: [Step]) { self.steps = Mutex(steps) }

    func response(to request: MockServer.Request) -> MockServer.Response {
        let step = steps.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return step(request)
    }

    func server() async throws -> MockServer { try await MockServer.start { self.response(to: $0) } }
}

/// Serves the content, and ends the connection after so many bytes of the body.
func served(
    _ content: Data = content, eTag: String = "\"1\"", cutAt cut: Int? = nil, fault: MockServer.RangeFault? = nil,
    adding headers: HTTPHeaders = [:]
) -> Script.Step {
    { request in
        var response = MockServer.Response.content(content, for: request, eTag: eTag, cutAt: cut, rangeFault: fault)
        response.headers.replace(with: headers)
        return response
    }
}

extension MockServer {
    var ranges: [String?] { requests.map { $0.headers[.range] } }

    func client(_ links: (any LoaderLink)? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport) -> HTTPClient
    {
        HTTPClient(environment: ServerEnvironment(baseURL: url), links: links, transport: transport)
    }
}

extension Backoff {
    /// Without waits in real time.
    static func immediately(_ maximumRetries: Int = 5) -> Backoff {
        Backoff(.immediate, maximumRetries: maximumRetries)
    }
}

/// A mock of a server with bodies that break off.
final class Mock: Sendable {
    struct Response: Sendable {
        var status: HTTPStatus = .ok
        var headers: HTTPHeaders
        var pieces: [String]
        var length: Int?
        /// nil at a proper end.
        var failure: HTTPError.Code?
    }

    private let isCancelled = Mutex(false)
    let loader: MockLoader

    init(_ responses: [Response]) {
        loader = MockLoader()
        for response in responses { loader.then { [weak self] in Self.response(response, to: $0, of: self) } }
    }

    var requests: [HTTPRequest] { loader.requests }
    var hasCancelled: Bool { isCancelled.withLock { $0 } }

    private static func response(_ response: Response, to request: HTTPRequest, of mock: Mock?) -> HTTPResponse {
        let left = Mutex(response.pieces[...])
        return HTTPResponse(
            request: request, status: response.status, headers: response.headers,
            body: HTTPResponseBody(
                length: response.length,
                pull: {
                    if let piece = left.withLock({ $0.popFirst() }) { return Data(piece.utf8) }
                    if let code = response.failure { throw HTTPError(code, request: request, message: "cut") }
                    return nil
                }, cancel: { mock?.isCancelled.withLock { $0 = true } }))
    }
}

extension Mock.Response {
    /// A 200 with a tag. Its body of six bytes breaks off after three.
    static func broken(
        _ headers: HTTPHeaders = ["ETag": "\"1\""], length: Int? = 6, failure: HTTPError.Code? = .connectionLost
    ) -> Self {
        Self(headers: headers, pieces: ["abc"], length: length, failure: failure)
    }

    /// A 206 with the other three bytes.
    static func rest(_ headers: HTTPHeaders = ["ETag": "\"1\""], range: String = "bytes 3-5/6") -> Self {
        var all = headers
        if all[.contentRange] == nil { all[.contentRange] = range }
        return Self(status: 206, headers: all, pieces: ["d", "ef"], length: 3)
    }

    static func status(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers, pieces: [], length: 0)
    }
}

extension HTTPClient {
    static func over(_ mock: Mock, _ link: ContinueBodies) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment("https://api.example.com"), links: link, transport: mock.loader)
    }
}

/// The progress that was reported. It is a class because closures share it.
final class ProgressLog: Sendable {
    private let steps = Mutex<[HTTPRequest.Progress]>([])

    var all: [HTTPRequest.Progress] { steps.withLock { $0 } }

    func add(_ progress: HTTPRequest.Progress) { steps.withLock { $0.append(progress) } }
}

/// Responses that don't continue a part, and the number of requests until the download has started again.
let unfitRests: [(reason: String, step: Script.Step, requests: Int)] = [
    ("the server ignores ranges", served(fault: .ignored), 2), ("the resource has changed", served(eTag: "\"2\""), 2),
    ("the part is of another version", served(eTag: "\"2\"", fault: .unconditional), 3),
    ("the range is refused", served(fault: .refused), 3), ("the range is wrong", served(fault: .shifted(by: 1)), 3),
    ("the length is wrong", served(fault: .length(1 << 20)), 3),
]
