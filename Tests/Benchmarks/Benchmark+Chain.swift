import Foundation
import Letterhead

extension Benchmark {
    /// What a link costs that only passes the request on: beside no chain at all, and beside the cheapest one that can be
    /// written by hand, in which each link is an object that holds the next.
    ///
    /// A link that gets its next loader as an argument takes two calls of an async function where such an object takes
    /// one, so the second limit is twice, with something for noise. The aim of 30 ns a link waits for a compiler that
    /// does not switch executors between two functions which both stay on their caller's.
    static let chain: [Benchmark] = {
        let chain =
            Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass() --> Pass()
            --> Terminal()
        let byHand = (0..<10).reduce(Terminal() as any HTTPLoader) { next, _ in Held(next: next) }
        var request = HTTPRequest()
        request.host = "api.example.com"
        request.path = "users"
        request.headers = ["Accept": "application/json"]
        let sent = request
        return [
            compare(
                "ten links that pass a request on", to: Terminal(), .perStep(nanoseconds: 60, allocations: 0, steps: 10)
            ),
            compare("ten links beside ten objects that hold each other", to: byHand, .ratio(2.2)),
        ]

        func compare(_ name: String, to floor: any HTTPLoader, _ limit: Limit) -> Benchmark {
            Benchmark(
                name, floor: { try await floor.load(sent) }, measured: { try await chain.load(sent) }, limits: limit,
                areSame: { $0.status == $1.status && $0.request.id == $1.request.id })
        }
    }()
}

private struct Pass: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
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
