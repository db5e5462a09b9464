// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience

extension Benchmark {
    /// What each link costs that has nothing to do for a request, and the whole chain, beside the transport alone.
    ///
    /// The transport answers at once and does nothing, so that what is left is the library's.
    static let links: [Benchmark] = {
        let transport = Answer()
        let base = URL(string: "https://api.example.com") ?? URL(filePath: "/")
        var request = HTTPRequest()
        request.host = "api.example.com"
        request.path = "/users/1"
        request.headers = ["Accept": "application/json"]
        let sent = request
        // As in the guide, with a throttle.
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: base), authentication: .bearer("token"),
            attemptLinks: Throttle(limit: 4), transport: transport)
        let balance = Balance(
            among: ["https://a.example.com", "https://b.example.com", "https://c.example.com"],
            for: HTTPOrigin(scheme: "https", host: "api.example.com"))
        return [
            link("ResetGuard", ResetGuard()), link("Deadline", Deadline()), link("FollowRedirects", FollowRedirects()),
            link("ApplyEnvironment", ApplyEnvironment()), link("Authenticate", Authenticate()),
            link("Throttle", Throttle(limit: 4)), link("LimitRate", LimitRate()),
            link("Throttle for each host", Throttle(limit: 4, per: .host), nanoseconds: 200),
            link("ModifyRequest", ModifyRequest { _ in }, nanoseconds: 350),
            link("ModifyResponse", ModifyResponse { _ in }),
            link("ModifyResponse of results", ModifyResponse.result { try $0.get() }),
            link("When", Throttle().when { _ in false }),
            link("LinkGroup", ModifyResponse { _ in }.named("a group"), nanoseconds: 250),
            link("Around", Throttle().around { request, _, past in try await past.load(request) }, nanoseconds: 500),
            link("Retry, which judges", Retry(), nanoseconds: 1_000),
            link("Autocancel, which owns a task", Autocancel(), nanoseconds: 2_500),
            link("Deduplicate, which owns a task", Deduplicate(), nanoseconds: 2_500),
            link("CircuitBreaker for each route", CircuitBreaker(per: .route), nanoseconds: 700),
            link("Balance over three replicas", balance, nanoseconds: 1_000),
            link(
                "Hedge, Balance, CircuitBreaker and Throttle",
                Hedge(after: .quantile(0.95, atLeast: .milliseconds(40))) --> balance --> CircuitBreaker(per: .route)
                    --> Throttle(limit: 8, per: .host),
                nanoseconds: 4_000),
            Benchmark(
                "the chain of a client", floor: { try await transport.load(sent) },
                measured: { try await client.send(sent) }, limits: .more(nanoseconds: 8_000), areSame: areSame),
            Benchmark(
                "a template through a client", floor: { try await transport.load(sent) },
                measured: { try await client.sendWithResponse(GetBytes()).response },
                limits: .more(nanoseconds: 9_000), areSame: { $0.status == $1.status }),
        ]

        func link(_ name: String, _ link: any LoaderLink, nanoseconds: Double = 150) -> Benchmark {
            // An array makes each of joined links an element of the chain, as a client does.
            compare("an idle link: \(name)", [link] --> transport, nanoseconds: nanoseconds)
        }

        func compare(_ name: String, _ chain: any HTTPLoader, nanoseconds: Double) -> Benchmark {
            Benchmark(
                name, floor: { try await transport.load(sent) }, measured: { try await chain.load(sent) },
                limits: .more(nanoseconds: nanoseconds), areSame: areSame)
        }
    }()

    @Sendable
    private static func areSame(_ left: HTTPResponse, _ right: HTTPResponse) -> Bool {
        left.status == right.status && left.request.id == right.request.id
    }
}

private struct GetBytes: RequestTemplate {
    typealias Response = Data

    var path: RequestPath { "users/1" }
}

/// A transport that does nothing.
private struct Answer: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(request: request, status: .ok)
    }
}
