// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting

// An app with all code on the main actor by default (`.defaultIsolation(MainActor.self)` in the manifest), as Xcode
// sets up new apps. Templates are values, and a request is built, sent and decoded off the main actor.

/// It is decoded off the main actor, and is therefore nonisolated.
nonisolated struct Article: Codable, Sendable {
    var title: String
}

struct LatestArticle: RequestTemplate {
    typealias Response = Article
    var path: RequestPath { "articles/latest" }
}

/// Its conformance is isolated to the main actor, as everything in this module is. It must not be decoded elsewhere.
struct Draft: Codable {
    var title: String
}

/// The compiler refuses `Get<Draft>("drafts/1")` and `response.decode(Draft.self)`. It accepts this template, which fails
/// when its response is decoded.
struct LatestDraft: RequestTemplate {
    typealias Response = Draft?
    var path: RequestPath { "drafts/latest" }
}

/// A template that decodes on the main actor itself may have such a response.
struct DecodedDraft: RequestTemplate {
    var path: RequestPath { "drafts/latest" }
    func decode(_ response: HTTPResponse) async throws -> Draft {
        let data = try await response.body.data()
        return try await MainActor.run { try JSONDecoder().decode(Draft.self, from: data) }
    }
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

    /// The message for a model that may only be decoded on the main actor.
    func refusal() async -> String {
        do {
            let decoded = try await client.send(DecodedDraft()).title
            return "decoded: \(try await client.send(LatestDraft().header("X-Draft", decoded))?.title ?? "none")"
        } catch {
            return "refused: \((error as? HTTPError)?.message ?? "\(error)")"
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
        let refusal = await model.refusal()
        print(refusal)
        await server.stop()
        if model.title != "sent by main-actor" || !refusal.contains("declare the model nonisolated") { exit(1) }
    }
}
