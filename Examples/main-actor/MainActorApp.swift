import Foundation
import Letterhead
import LetterheadTesting

// An app whose code is on the main actor by default (`.defaultIsolation(MainActor.self)` in the manifest), as Xcode sets up
// new apps. Templates are values, and a request is built, sent and decoded off the main actor.

/// It is decoded off the main actor, and is therefore nonisolated.
nonisolated struct Article: Codable, Sendable {
    var title: String
}

struct LatestArticle: RequestTemplate {
    typealias Response = Article
    var path: RequestPath { "articles/latest" }
}

struct Stamp: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.headers["X-App"] = "main-actor"
        return try await next.load(request)
    }
}

/// The state of a view, changed on the main actor only.
final class ArticleModel {
    private(set) var title = "loading"
    private let client: HTTPClient

    init(client: HTTPClient) { self.client = client }

    func refresh() async {
        do {
            title = try await client.send(LatestArticle().timeout(.seconds(5))).title
        } catch {
            title = "failed: \(error)"
        }
    }
}

@main
struct MainActorApp {
    static func main() async throws {
        let server = try await MockServer.start { request in
            try .json(["title": "sent by \(request.headers["X-App"] ?? "nobody")"])
        }
        let model = ArticleModel(
            client: HTTPClient(environment: ServerEnvironment(baseURL: server.url), links: Stamp()))
        await model.refresh()
        print(model.title)
        await server.stop()
        if model.title != "sent by main-actor" { exit(1) }
    }
}
