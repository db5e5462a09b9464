// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

struct User: Codable, Sendable {
    var id: Int
    var name: String
}

/// A page of a sequence by cursor.
struct Numbers: Decodable, Sendable {
    var next: Int?
}

/// A transport that responds at once.
struct Answer: HTTPLoader {
    static let environment = ServerEnvironment("https://api.example.com")

    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    var body = #"{"id":1,"name":"Ada"}"#

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data(body.utf8)))
    }
}

/// A transport that responds to every second request with success.
final class EverySecond: HTTPLoader {
    private let status: HTTPStatus
    private let headers: HTTPHeaders
    private let isSuccess = Mutex(true)

    init(_ status: HTTPStatus, headers: HTTPHeaders = [:]) { (self.status, self.headers) = (status, headers) }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let succeeds = isSuccess.withLock {
            $0.toggle()
            return $0
        }
        if succeeds { return try await Answer().load(request) }
        return HTTPResponse(request: request, status: status, headers: headers)
    }
}

/// A transport that responds to one request only, so that what follows must come from the cache.
final class Once: HTTPLoader {
    private let hasResponded = Mutex(false)

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let isSecond = hasResponded.withLock { hasResponded in
            let before = hasResponded
            hasResponded = true
            return before
        }
        if isSecond { throw HTTPError(.connectionLost, request: request, message: "a second request was sent") }
        return try await Answer(headers: ["Cache-Control": "max-age=600"]).load(request)
    }
}

/// A transport of numbered pages.
struct Numbered: HTTPLoader {
    let last: Int

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let page = request[query: "page"].flatMap { Int($0) } ?? 1
        let answer = Answer(body: page < last ? #"{"next":\#(page + 1)}"# : "{}")
        return try await answer.load(request)
    }
}

struct Pass: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

struct Ignore: HTTPObserver {
    func record(_ event: HTTPEvent) {}
}
