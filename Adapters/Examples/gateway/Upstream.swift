// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience

/// A user as the upstream service and the gateway describe it.
struct User: Codable, Sendable {
    var login: String
    var name: String
}

/// `GET users/{login}` of the upstream service.
struct GetUser: RequestTemplate {
    typealias Response = User

    let login: String
    var path: RequestPath { "users/\(login, name: "login")" }
}

extension HTTPClient {
    /// Sends to the upstream service, with the trace and the time that is left of the request that is being handled.
    static func upstream(_ url: URL) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: url), attemptLinks: DeadlinePropagation(.timeLeft),
            tracing: TraceContextPropagation(allowedOrigins: [url]))
    }
}

extension HTTPHeaders.Name {
    /// How many milliseconds the caller waits for the response.
    static let timeLeft: HTTPHeaders.Name = "X-Request-Timeout"
}
