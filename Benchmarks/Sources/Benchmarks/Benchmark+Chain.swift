// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// What a link costs that only passes the request on: in a chain that is written in one place, beside no chain at
    /// all, and in one that is put together while the program runs, beside the cheapest one that can be written by
    /// hand, where each link is an object that holds the next.
    ///
    /// Of the first, the compiler makes one function. In the second, a link takes two calls of an async function where
    /// such an object takes one, because it gets its next loader as an argument. The limit is therefore twice, with
    /// something for noise.
    static let chain: [Benchmark] = {
        let written =
            Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass()
            --> Terminal()
        let composed = (0..<10).reduce(Terminal() as any HTTPLoader) { next, _ in Pass() --> next }
        let byHand = (0..<10).reduce(Terminal() as any HTTPLoader) { next, _ in Held(next: next) }
        let passing = (0..<10).reduce(Terminal() as any HTTPLoader) { next, _ in Pass() --> next }
        let recording = (0..<10).reduce(Terminal() as any HTTPLoader) { next, _ in Recording() --> next }
        var request = HTTPRequest()
        request.host = "api.example.com"
        request.path = "users"
        request.headers = ["Accept": "application/json"]
        let sent = request
        return [
            Benchmark(
                "ten links that pass a request on", floor: { try await Terminal().load(sent) },
                measured: { try await written.load(sent) },
                limits: .perStep(nanoseconds: 30, allocations: 0, steps: 10), areSame: areSame),
            Benchmark(
                "ten links put together at run time, beside ten objects that hold each other",
                floor: { try await byHand.load(sent) }, measured: { try await composed.load(sent) },
                limits: .ratio(2.2), areSame: areSame),
            Benchmark(
                "ten links that would record events, without observers", floor: { try await passing.load(sent) },
                measured: { try await recording.load(sent) },
                limits: .perStep(nanoseconds: 5, allocations: 0, steps: 10), areSame: areSame),
        ]
    }()

    @Sendable
    private static func areSame(_ left: HTTPResponse, _ right: HTTPResponse) -> Bool {
        left.status == right.status && left.request.id == right.request.id
    }
}

private struct Pass: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

private struct Recording: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        request.record("link.passed") { $0[.reason] = "a benchmark" }
        return try await next.load(request)
    }
}

private final class Held: HTTPLoader {
    let next: any HTTPLoader

    init(next: any HTTPLoader) { self.next = next }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await next.load(request) }
}

private struct Terminal: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok)
    }
}
