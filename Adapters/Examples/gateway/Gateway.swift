// SPDX-License-Identifier: MIT
import Foundation
import Hummingbird
import Letterhead
import LetterheadHummingbird
import LetterheadResilience
import LetterheadServiceLifecycle
import LetterheadSigning
import ServiceLifecycle

/// A user as the upstream service and the gateway describe it.
struct User: Codable, Sendable, ResponseEncodable {
    var login: String
    var name: String
}

/// A service that responds with what it gets from another one, and receives its webhooks.
///
/// ```
/// UPSTREAM=https://api.example.com SECRET=whsec_… PORT=8080 swift run --package-path Adapters gateway
/// curl -H 'X-Request-Timeout: 500' http://127.0.0.1:8080/users/ada
/// ```
@main
struct Gateway: Service {
    let upstream: URL
    let secret: Secret
    var port = 8080
    /// How long requests may take after the program was told to end.
    var limit = Duration.seconds(10)
    /// Called with the port when the service accepts requests.
    var onStart: @Sendable (Int) async -> Void = { _ in }

    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["UPSTREAM"].flatMap({ URL(string: $0) }), let secret = environment["SECRET"] else {
            print("usage: UPSTREAM=https://api.example.com SECRET=whsec_… [PORT=8080] gateway")
            exit(64)
        }
        let port = environment["PORT"].flatMap { Int($0) } ?? 8080
        try await Gateway(upstream: url, secret: Secret(secret), port: port).run()
    }

    func run() async throws {
        let service = HTTPClientService(
            HTTPClient(
                environment: ServerEnvironment(baseURL: upstream), links: CallerContextLink(),
                attemptLinks: DeadlinePropagation("X-Request-Timeout"),
                tracing: TraceContextPropagation(allowedOrigins: [upstream])), limit: limit)
        let (client, router) = (service.client, Router())
        router.add(middleware: CallerContextMiddleware(timeLeft: "X-Request-Timeout", limit: .seconds(30)))
        router.add(middleware: UpstreamErrorMiddleware(passingOn: [.notFound]))
        router.get("users/:login") { _, context in
            // A parameter is as it was sent.
            let login = try context.parameters.require("login").removingPercentEncoding
            guard let login else { throw Hummingbird.HTTPError(.badRequest) }
            return try await client.send(Get<User>("users/\(login, name: "login")"))
        }
        router.group("webhooks").add(middleware: WebhookMiddleware(.standard(secret), limit: 65_536))
            .post("users") { request, context in
                let user = try await request.decode(as: User.self, context: context)
                context.logger.info("\(user.login) has changed")
                return Response(status: .noContent)
            }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { await onStart($0.localAddress?.port ?? 0) })
        try await application.runService(clients: [service])
    }
}
