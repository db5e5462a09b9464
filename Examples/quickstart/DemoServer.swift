// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting

/// A server on the loopback interface that knows a few users.
func startDemoServer() async throws -> MockServer {
    try await MockServer.start { request in
        switch (request.method, request.path) {
        case (.get, "/users/ada"):
            return try .json(User(id: 1, login: "ada"))
        case (.post, "/users"):
            return MockServer.Response(status: 201, headers: [.contentType: "application/json"], body: request.body)
        case (.get, "/users/ada/followers"):
            let page = Int(request.queryValue("page") ?? "") ?? 1
            let size = Int(request.queryValue("per_page") ?? "") ?? 10
            let everyone = ["grace", "edsger", "barbara", "alan", "donald"].enumerated()
                .map { User(id: $0.offset + 2, login: $0.element) }
            return try .json(Array(everyone.dropFirst((page - 1) * size).prefix(size)))
        case (.get, "/users/ada/activity"):
            let events = ["signed in", "wrote a note", "signed out"].map {
                ServerSentEvent(event: "activity", data: $0)
            }
            return .events(events, every: .milliseconds(50))
        case (.put, "/users/ada/avatar"):
            return try .json(Receipt(contentType: request.headers[.contentType] ?? "", bytes: request.body.count))
        default:
            var response = try MockServer.Response.json(["title": "no such user", "token": "not-for-logs"])
            response.status = .notFound
            return response
        }
    }
}
