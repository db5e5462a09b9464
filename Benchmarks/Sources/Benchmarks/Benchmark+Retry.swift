// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// What validation and retry cost a request that is answered well at once: beside the loader alone.
    static let retry: [Benchmark] = {
        let (loader, chain) = (Answering(), Retry() --> Answering())
        var request = HTTPRequest()
        request.host = "api.example.com"
        request.path = "users"
        request.headers = ["Accept": "application/json"]
        request.timeout = .seconds(30)
        let sent = request
        return [
            Benchmark(
                "a retry that is not needed", floor: { try await loader.load(sent) },
                measured: { try await chain.load(sent) },
                limits: .perStep(nanoseconds: 1000, allocations: 2, steps: 1),
                areSame: { $0.status == $1.status && $0.request.id == $1.request.id })
        ]
    }()
}

private struct Answering: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok)
    }
}
