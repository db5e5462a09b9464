// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit

@testable import Letterhead
@testable import LetterheadCaching

/// A client with a cache, a server in memory, and a clock that a test moves.
final class CacheScene: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    let errors = Mutex<[String]>([])
    let server: MockLoader

    init(_ respond: @escaping MockLoader.Handler) { server = MockLoader(respond) }

    /// A server that responds with a number that increases, and with 304 to its own tag.
    static func counting(_ control: String, tag: String? = "\"v\"") -> CacheScene {
        let count = Counter()
        return CacheScene { request in
            if let tag, request.headers[.ifNoneMatch] == tag {
                return HTTPResponse(request: request, status: .notModified, headers: ["Cache-Control": control])
            }
            var headers: HTTPHeaders = ["Cache-Control": control]
            headers[.eTag] = tag
            let body = HTTPResponseBody(Data("body \(count.next())".utf8))
            return HTTPResponse(request: request, status: .ok, headers: headers, body: body)
        }
    }

    var now: Date { time.withLock { $0 } }

    func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    func cache(_ store: ResponseCache.Store = .memory(bytes: 1 << 20), statusName: String? = nil) -> ResponseCache {
        ResponseCache(store: store, statusName: statusName, now: { [self] in now }) { [self] error in
            errors.withLock { $0.append("\(error)") }
        }
    }

    func client(_ cache: ResponseCache? = nil, cookies: CookieJar? = nil) -> HTTPClient {
        HTTPClient(cookies: cookies, cache: cache ?? self.cache(), transport: server)
    }

    /// A cache whose response is no longer fresh, and its client.
    func stale() async throws -> (cache: ResponseCache, client: HTTPClient) {
        let cache = cache()
        let client = client(cache)
        _ = try await client.get()
        advance(2)
        return (cache, client)
    }
}

extension HTTPClient {
    /// Sends a GET and returns the text of its response, the part of the cache and the response.
    func get(
        _ url: String = "https://a.example/", _ change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> (text: String, cache: ResponseCache.Outcome, response: HTTPResponse) {
        var request = try HTTPRequest(url)
        try change(&request)
        let response = try await send(request)
        return (String(decoding: try await response.body.data(), as: UTF8.self), response.cache, response)
    }
}
