// SPDX-License-Identifier: MIT
import Letterhead

/// Adds proofs of a key to the requests that the tokens sign, and to the requests for tokens.
struct ProvenTokens: LoaderLink {
    let tokens: HTTPAuthentication
    let proof: any LoaderLink

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        // The authentication in the request settings is this whole link. Inside the link, the tokens take its place.
        let (authentication, requirement) = (request.authentication, request.authenticationRequirement)
        @Sendable func restoring(_ request: HTTPRequest) -> HTTPRequest {
            var request = request
            guard request.authentication == tokens else { return request }
            (request.authentication, request.authenticationRequirement) = (authentication, requirement)
            return request
        }
        let proven = AnyLoader { [proof] sent throws(HTTPError) in
            try await proof.load(restoring(sent), next: next)
        }
        var inner = request
        (inner.authentication, inner.authenticationRequirement) = (tokens, nil)
        do throws(HTTPError) {
            return try await Authenticate().load(inner, next: proven)
        } catch {
            throw error.with(request: restoring(error.request))
        }
    }

    func reset(next: any HTTPLoader) async {
        let end = AnyLoader { request throws(HTTPError) in throw HTTPError(.resetInProgress, request: request) }
        await Authenticate(tokens).reset(next: end)
        await proof.reset(next: next)
    }
}
