// SPDX-License-Identifier: MIT
import Foundation
import Hummingbird
import Letterhead
import LetterheadServiceLifecycle
import NIOCore

/// A service that responds with what it gets from another one.
///
/// ```
/// UPSTREAM=https://api.example.com PORT=8080 swift run --package-path Adapters gateway
/// curl -H 'X-Request-Timeout: 500' http://127.0.0.1:8080/users/ada
/// ```
@main
struct Gateway {
    let upstream: URL
    var port = 8080
    /// How long requests may take after the program was told to end.
    var limit = Duration.seconds(10)
    /// Called with the port when the service accepts requests.
    var onStart: @Sendable (Int) async -> Void = { _ in }

    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["UPSTREAM"].flatMap({ URL(string: $0) }) else {
            print("usage: UPSTREAM=https://api.example.com [PORT=8080] gateway")
            return
        }
        let gateway = Gateway(upstream: url, port: environment["PORT"].flatMap { Int($0) } ?? 8080)
        try await gateway.application.runService()
    }

    /// The application. When it shuts down, the server finishes the requests that it handles, and only then the client
    /// ends.
    var application: some ApplicationProtocol {
        let service = HTTPClientService(.upstream(upstream), limit: limit)
        let client = service.client
        let router = Router()
        router.add(middleware: CallerContext())
        router.get("users/:login") { _, context in
            // A parameter is as it was sent.
            guard let login = try context.parameters.require("login").removingPercentEncoding else {
                throw Hummingbird.HTTPError(.badRequest)
            }
            return try await client.withinCallersTime.send(GetUser(login: login))
        }
        return Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            services: [service],
            onServerRunning: { [onStart] channel in await onStart(channel.localAddress?.port ?? 0) })
    }
}

extension User: ResponseEncodable {}
