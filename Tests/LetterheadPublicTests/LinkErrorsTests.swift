// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct Locked: Error {}

/// A link that signs with a key from a store that may fail, as a user writes it.
private struct SignWithKey: LoaderLink {
    let key: @Sendable () async throws -> String

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var signed = request
        signed.headers.setSecret(try await request.withHTTPErrors { try await key() }, for: "X-Key")
        return try await next.load(signed)
    }
}

/// The logging link of the guide.
private struct Log: LoaderLink {
    let write: @Sendable (String) -> Void

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let result = await next.result(of: request)
        write("\(result)")
        return try result.get()
    }
}

@Suite struct LinkErrorsTests {
    private let request = HTTPRequest.plain("/a")

    @Test func `a foreign error becomes the underlying error of an HTTPError of the request`() async {
        let mock = MockLoader()
        let chain = SignWithKey { throw Locked() } --> mock
        let error = await failure { try await chain.load(request) }
        #expect(error?.underlying is Locked && error?.code == .unknown && error?.request.id == request.id)
        #expect(mock.requests.isEmpty)
    }

    @Test func `an HTTPError and a cancellation keep their codes`() async {
        let own = HTTPError(.cannotConnect, request: .plain("/b"))
        let kept = await failure { try await request.withHTTPErrors { throw own } }
        #expect(kept?.code == .cannotConnect && kept?.request.path == "/b")
        let cancelled = await failure { try await request.withHTTPErrors { throw CancellationError() } }
        #expect(cancelled?.code == .cancelled)
    }

    @Test(arguments: [7, nil]) func `a value of a callback is returned, and its error is mapped`(age: Int?) async throws
    {
        func find(_ completion: @Sendable (String?, Int?, (any Error)?) -> Void) { completion("k", age, nil) }
        struct NoKey: Error {}
        func found() async throws(HTTPError) -> String {
            let (key, age): (String, Int) = try await request.withHTTPErrors {
                try await withCheckedThrowingContinuation { continuation in
                    find { key, age, error in
                        guard let key, let age else { return continuation.resume(throwing: error ?? NoKey()) }
                        continuation.resume(returning: (key, age))
                    }
                }
            }
            return "\(key)\(age)"
        }
        if age != nil {
            #expect(try await found() == "k7")
        } else {
            let error = await failure { _ = try await found() }
            #expect(error?.underlying is NoKey)
        }
    }

    @MainActor @Test func `the closure runs on the actor of the caller`() async throws {
        var count = 0
        try await request.withHTTPErrors {
            MainActor.assertIsolated()
            count += 1
        }
        #expect(count == 1)
    }

    @Test func `the result of a loader is its response or its error`() async throws {
        let journal = Journal()
        let mock = MockLoader().then { HTTPResponse(request: $0, status: .notFound) }
            .then { throw HTTPError(.connectionLost, request: $0) }
        let chain = [Log { journal.write($0) }] --> mock
        #expect(try await chain.load(request).status == .notFound)
        #expect(await failure { try await chain.load(request) }?.code == .connectionLost)
        #expect(journal.all.map { $0.prefix(8) } == ["success(", "failure("])
    }
}
