// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// What a walk costs beside sending each of its pages: 10,000 pages by cursor over a loader that answers at once.
    static let pages: [Benchmark] = {
        let count = 10_000
        let client = HTTPClient(transport: Numbered(last: count))
        let first = Numbers().paginated(by: .cursor(\.next, parameter: "page"))
        return [
            Benchmark(
                "walk over 10,000 pages",
                floor: {
                    var found = 0
                    var next: Paginated<Numbers>? = first
                    while let template = next {
                        let (value, response) = try await client.sendWithResponse(template)
                        found += 1
                        let arrival = Page(value, response: response)
                        guard case .next(let following) = try await template.requestForNextPage(after: arrival) else {
                            break
                        }
                        next = following
                    }
                    return found
                },
                measured: {
                    var found = 0
                    for try await _ in client.pages(of: first) { found += 1 }
                    return found
                },
                limits: .perStep(nanoseconds: 6000, allocations: 20, steps: count))
        ]
    }()
}

private struct Numbers: RequestTemplate {
    struct Response: Sendable {
        var next: Int?
    }

    var path: RequestPath { "numbers" }
    var baseURL: URL? { URL(string: "https://api.example.com") }

    func decode(_ response: HTTPResponse) async throws -> Response {
        Response(next: response.headers["X-Next"].flatMap { Int($0) })
    }
}

private struct Numbered: HTTPLoader {
    let last: Int

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let page = request[query: "page"].flatMap { Int($0) } ?? 1
        return HTTPResponse(request: request, status: .ok, headers: page < last ? ["X-Next": String(page + 1)] : [:])
    }
}
