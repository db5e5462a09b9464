// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct User: Codable, Equatable, Sendable { var name: String, born: Date }

struct SaveUser: RequestTemplate {
    typealias Response = User
    let user: User
    var method: HTTPMethod { .post }
    var path: RequestPath { "users/\(user.name)" }
    var body: some HTTPBody { JSONBody(user) }
}

/// Sends a template to a server in the same process, and fails if the response is not as expected.
@main
struct Check {
    static func main() async throws {
        let server = try await MockServer.start { request in
            MockServer.Response(headers: [.contentType: "application/json"], body: request.body)
        }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), authentication: .basic(username: "ada", password: "x"))
        let ada = User(name: "Ada Lovelace", born: Date(timeIntervalSince1970: -4_857_580_800))
        let saved = try await client.send(SaveUser(user: ada))
        guard saved == ada, server.requests.first?.headers[.authorization] == "Basic YWRhOng=" else {
            fatalError("the server received or returned something else")
        }
        await server.stop()
        print("sent and received a user")
    }
}
