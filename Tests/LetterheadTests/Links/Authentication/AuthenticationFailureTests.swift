// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import Testing

private let api = URL(string: "https://api.example.com/me") ?? URL(filePath: "/")

private struct Closed: Error, Equatable {}

/// Why a request could not be signed is told by the type of the error underneath.
@Suite(.timeLimit(.minutes(3))) struct AuthenticationFailureTests {
    private func error(
        _ authentication: HTTPAuthentication, baseURL: URL = api, status: HTTPStatus = .ok,
        _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPError {
        // Credentials without allowedOrigins belong to the environment's origin.
        let chain =
            ApplyEnvironment(ServerEnvironment(baseURL: baseURL)) --> Authenticate(authentication)
            --> MockLoader { HTTPResponse(request: $0, status: status) }
        let request = HTTPRequest(url: api).with(configure)
        let error = try await #require(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error.code == .cannotAuthenticate)
        return error
    }

    private func reason(_ error: HTTPError) -> HTTPAuthentication.Failure.Reason? {
        (error.underlying as? HTTPAuthentication.Failure)?.reason
    }

    @Test func `a provider that returns nil is noCredentials`() async throws {
        let error = try await error(.bearer { _ in nil })
        #expect(reason(error) == .noCredentials)
        #expect(
            "\(error)" == "cannotAuthenticate: GET https://api.example.com/me: the provider returned no credentials")
    }

    @Test func `too many calls of a provider are limitReached`() async throws {
        let error = try await error(.bearer(limit: 1, per: .seconds(60)) { _ in "t" }, status: .unauthorized)
        #expect(reason(error) == .limitReached && error.message.contains("1 times within 60.0 seconds"))
    }

    @Test func `an origin that is not allowed is originNotAllowed`() async throws {
        let plain = URL(string: "http://api.example.com/me") ?? URL(filePath: "/")
        let insecure = try await error(.bearer("t"), baseURL: plain) { $0.scheme = "http" }
        #expect(reason(insecure) == .originNotAllowed && insecure.message.contains("https only"))
        #expect(!insecure.mayHaveBeenSent)
        let foreign = try await error(.anonymous) {
            $0.authentication = .bearer("t", allowedOrigins: [URL(filePath: "/"), api])
        }
        #expect(reason(foreign) == .originNotAllowed)
    }

    @Test func `a name that the composite does not contain is unknownName`() async throws {
        let error = try await error(.composite(["a": .bearer("t")])) { $0.authentication = .named("b") }
        #expect(reason(error) == .unknownName && error.message.contains("\"b\""))
    }

    @Test func `an error of a provider is the underlying error, and part of the description`() async throws {
        let error = try await error(.bearer { _ in throw Closed() })
        #expect(reason(error) == nil && error.underlying as? Closed == Closed())
        #expect(error.message == "could not obtain credentials: Closed")
        let request = HTTPRequest(url: api)
        let network = try await self.error(
            .bearer { _ in throw HTTPError(.timedOut, request: request, message: "no answer") })
        #expect(network.message == "could not obtain credentials: timedOut: GET https://api.example.com/me: no answer")
    }
}
