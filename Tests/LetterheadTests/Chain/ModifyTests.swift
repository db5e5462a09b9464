// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Refused: Error {}

@Suite struct ModifyRequestTests {
    @Test func `the request that the closure changed is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        let chain =
            ModifyRequest {
                $0.path = "changed"
                $0.headers["X"] = "1"
            } --> mock
        _ = try await chain.load(HTTPRequest.to("https://h/p"))
        #expect(try mock.requests.map { try $0.urlString() } == ["https://h/changed"])
        #expect(mock.requests.first?.headers == ["X": "1"])
    }

    @Test func `a request that the closure creates is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        let other = try HTTPRequest.to("https://other")
        let response = try await (ModifyRequest { $0 = other } --> mock).load(HTTPRequest.to("https://h"))
        #expect(mock.requests.map(\.id) == [other.id] && response.request.id == other.id)
    }

    private enum Shard: HTTPRequestOption { static let defaultOptionValue = 0 }

    @Test(arguments: [false, true])
    func `what the closure sets for the links below reaches them, and the rest of the load stays`(
        isNew: Bool
    ) async throws {
        let origin = HTTPOrigin(scheme: "https", host: "logical")
        let mock = MockLoader { request in
            #expect(request.timeLeft != nil)
            return .ok(request)
        }
        let chain =
            Deadline(.seconds(5))
            --> ModifyRequest { request in
                if isNew { request = try HTTPRequest("https://other") }
                request.loadValues[option: Shard.self] = 3
                (request.logicalOrigin, request.homeOrigin) = (origin, origin)
            } --> mock
        let request = try HTTPRequest.to("https://h").with { $0.loadValues[option: Earlier.self] = 1 }
        _ = try await chain.load(request)
        let sent = try #require(mock.requests.first)
        #expect(sent.loadValues[option: Shard.self] == 3 && sent.loadValues[option: Earlier.self] == 1)
        #expect(sent.logicalOrigin == origin && sent.homeOrigin == origin)
    }

    private enum Earlier: HTTPRequestOption { static let defaultOptionValue = 0 }

    @Test func `an error of the closure fails the load, and nothing is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        let chain = ModifyRequest { _ in throw Refused() } --> mock
        let error = try await #require(throws: HTTPError.self) { try await chain.load(HTTPRequest.to("https://h")) }
        #expect(error.underlying is Refused && mock.requests.isEmpty)
    }
}

@Suite struct ModifyResponseTests {
    private func load(_ link: ModifyResponse, _ mock: MockLoader) async throws -> HTTPResponse {
        try await (link --> mock).load(HTTPRequest.to("https://h"))
    }

    @Test func `the changes of the closure are returned for every status`() async throws {
        let change = ModifyResponse { if $0.status == 500 { $0.status = 200 } }
        #expect(try await load(change, MockLoader { HTTPResponse(request: $0, status: 500) }).status == .ok)
    }

    @Test func `the closure is not called without a response, unless it receives the result`() async throws {
        let unused = ModifyResponse { _ in Issue.record("asked without a response") }
        #expect(await failure { try await load(unused, MockLoader()) }?.code == .cannotConnect)
        let saved = ModifyResponse.result { result in
            guard case .failure(let error) = result else { return try result.get() }
            return HTTPResponse(request: error.request, status: 299)
        }
        #expect(try await load(saved, MockLoader()).status == 299)
    }

    @Test func `an error of the closure is the underlying error, with the response`() async throws {
        for link in [ModifyResponse { _ in throw Refused() }, ModifyResponse.result { _ in throw Refused() }] {
            #expect(await failure { try await load(link, MockLoader { .ok($0) }) }?.underlying is Refused)
        }
        let error = await failure { try await load(ModifyResponse { _ in throw Refused() }, MockLoader { .ok($0) }) }
        #expect(error?.response?.status == .ok)
    }
}

@Suite struct AnyLoaderTests {
    @Test func `an error of a closure becomes an HTTPError`() async {
        let mapped = await failure { try await AnyLoader { _ in throw CancellationError() }.load(HTTPRequest()) }
        #expect(mapped?.code == .cancelled)
    }

    @Test func `the loader after it responds`() async throws {
        let mock = MockLoader { .ok($0) }
        let loader = AnyLoader(mock)
        _ = try await loader.load(HTTPRequest.to("https://h"))
        #expect(mock.requests.count == 1)
        #expect("\(loader) \(AnyLoader { .ok($0) })" == "AnyLoader(MockLoader) AnyLoader")
    }
}
