// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadCaching
import LetterheadResilience
import LetterheadSigning
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Every link and transport of the library keeps the laws, and each law finds a loader that breaks it.
@Suite(.timeLimit(.minutes(3)))
struct LoaderLawsTests {
    struct Named<Part: Sendable>: CustomTestStringConvertible {
        let name: String
        let make: @Sendable () -> Part
        var testDescription: String { name }
    }

    static let links: [Named<any LoaderLink>] = [
        .init(name: "PrintLoader") { PrintLoader { _ in } },
        .init(name: "ApplyEnvironment") { ApplyEnvironment() },
        .init(name: "ApplyEnvironment that asks") {
            ApplyEnvironment(.provided { ServerEnvironment(baseURL: try $0.url()) })
        },
        .init(name: "FollowRedirects") { FollowRedirects() },
        .init(name: "Authenticate") { Authenticate(.bearer("t")) },
        .init(name: "Authenticate that asks") { Authenticate(.bearer { _ in "t" }) },
        .init(name: "Authenticate by digest") { Authenticate(.digest(user: "u", password: "p")) },
        .init(name: "Authenticate by challenge") { Authenticate(.challenge { _, _ in .bearer("t") }) },
        .init(name: "ResponseCache") { ResponseCache(store: .memory(bytes: 1 << 20)) },
        .init(name: "Deadline") { Deadline() },
        .init(name: "Deadline with a limit") { Deadline(.seconds(3_600)) },
        .init(name: "Retry") { Retry() },
        .init(name: "Retry that repeats") { Retry(Backoff(maximumRetries: 3)) },
        .init(name: "ResetGuard") { ResetGuard() },
        .init(name: "Autocancel") { Autocancel() },
        .init(name: "Deduplicate") { Deduplicate() },
        .init(name: "Deduplicate under a deadline") { Deadline(.seconds(3_600)) --> Deduplicate() },
        .init(name: "Throttle") { Throttle(limit: 100) },
        .init(name: "Throttle of few") { Throttle(limit: 2, per: .host) },
        .init(name: "LimitRate") { LimitRate(1_000, per: .milliseconds(1)) },
        .init(name: "LimitRate that learns") { LimitRate() },
        .init(name: "ModifyRequest") { ModifyRequest { $0.headers["X"] = "1" } },
        .init(name: "ModifyRequest of the host") { ModifyRequest { $0.host = "node.test" } },
        .init(name: "a link that sends a request twice") { Twice() },
        .init(name: "ModifyResponse") { ModifyResponse { $0.headers["X"] = "1" } },
        .init(name: "ModifyResponse of results") { ModifyResponse.result { try $0.get() } },
        .init(name: "When it holds") { Autocancel().when { _ in true } },
        .init(name: "When it does not") { Deduplicate().when(otherwise: Throttle(limit: 9)) { _ in false } },
        .init(name: "Around") { Throttle(limit: 9).around { request, inside, _ in try await inside.load(request) } },
        .init(name: "Around, past it") { Deduplicate().around { request, _, past in try await past.load(request) } },
        .init(name: "LinkGroup") { (Autocancel() --> Deduplicate()).named("both") },
        .init(name: "two joined") { FollowRedirects() --> Throttle(limit: 7) },
        .init(name: "the recommended chain") {
            ResetGuard() --> Autocancel() --> Deadline(.seconds(3_600)) --> Retry(Backoff(maximumRetries: 1))
                --> FollowRedirects() --> ApplyEnvironment() --> Authenticate(.bearer("t")) --> Deduplicate()
                --> LimitRate(1_000_000, per: .milliseconds(1)) --> Throttle(limit: 8)
        },
    ]

    @Test(arguments: links) func `the links of the library obey the laws`(_ link: Named<any LoaderLink>) async throws {
        try await LoaderLaws(patience: .seconds(40), link: link.make).check()
    }

    #if Foundation || canImport(Darwin)
        @Test func `URLSessionLoader obeys the laws`() async throws {
            try await LoaderLaws(patience: .seconds(40), loader: { URLSessionLoader() }).check()
        }
    #endif

    @Test func `a link that sends a request twice at once obeys the laws`() async throws {
        try await LoaderLaws(patience: .seconds(40), link: { SendTwice() }).check()
    }

    #if os(Linux)
        @Test func `CurlLoader obeys the laws`() async throws {
            try await LoaderLaws(patience: .seconds(40), loader: { CurlLoader() }).check()
        }
    #endif

    @Test(arguments: [
        ("completion", "never"), ("identity", "anew"), ("identity", "moved"), ("cancellation", "detached"),
        ("cancellation", "half detached"), ("reset", "twice reset"), ("reset", "no reset"), ("release", "holder"),
        ("retention", "hoarder"),
    ])
    func `a link that breaks a law is reported`(law: String, kind: String) async throws {
        // What is late on a busy machine must not be taken for what never comes, where that is another law's.
        let patience = ["anew", "moved", "twice reset"].contains(kind) ? Duration.seconds(40) : .seconds(3)
        let found = try await LoaderLaws(patience: patience, link: { Broken(kind: kind) }).violations()
        #expect(found.contains { $0.law == law }, "\(found)")
    }

    @Test func `a loader that sends malformed requests is reported`() async throws {
        let found = try await LoaderLaws(
            patience: .milliseconds(500),
            loader: { AnyLoader { request in try await HTTPClient.defaultTransport.load(request.removingHeaders()) } }
        ).violations()
        #expect(found.contains { $0.law == "validation" }, "\(found)")
    }

    @Test func `a loader that sends a request twice is reported`() async throws {
        let found = try await LoaderLaws(loader: { Twice() --> HTTPClient.defaultTransport }).violations()
        #expect(found.contains { $0.law == "completion" }, "\(found)")
    }

    private struct Twice: LoaderLink {
        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            _ = try await next.load(request)
            return try await next.load(request)
        }
    }

    /// Breaks the law of its kind.
    final class Broken: LoaderLink {
        private let kind: String
        private let hoard = Mutex<[HTTPRequest]>([])

        init(kind: String) { self.kind = kind }

        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            switch kind {
            case "moved":
                var moved = request
                moved.host = "node.test"
                return try await next.load(moved)
            case "half detached":
                // A hedge that it does not cancel.
                Task { try await next.load(request) }
                return try await next.load(request)
            case "never": return HTTPResponse(request: request, status: .ok)
            case "holder":
                let first = try await next.load(request)
                defer { withExtendedLifetime(first) {} }
                return try await next.load(request)
            case "hoarder": hoard.withLock { $0.append(request) }
            case "anew":
                var other = HTTPRequest(method: request.method, url: try request.url())
                other.headers = request.headers
                return try await next.load(other)
            case "detached":
                do {
                    return try await Task { try await next.load(request) }.value
                } catch {
                    throw HTTPError(error, request: request)
                }
            default: break
            }
            return try await next.load(request)
        }

        func reset(next: any HTTPLoader) async {
            if kind == "no reset" { return }
            await next.reset()
            if kind == "twice reset" { await next.reset() }
        }
    }
}

extension HTTPRequest {
    fileprivate func removingHeaders() -> HTTPRequest {
        var request = self
        request.headers = [:]
        return request
    }
}
