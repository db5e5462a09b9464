// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting

/// A tour of the library against a local server: `swift run quickstart`.
///
/// With a URL as its argument, it sends a GET to that URL: `swift run quickstart https://example.com`.
@main
struct Quickstart {
    static func main() async {
        do {
            if let argument = CommandLine.arguments.dropFirst().first {
                try await fetch(argument)
            } else {
                try await tour()
            }
        } catch {
            print(error)
            exit(1)
        }
    }

    private static func tour() async throws {
        let server = try await startDemoServer()
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        print("A local server listens at \(server.url), which is the base URL of the client.")

        show("A typed GET", #"client.sendWithResponse(GetUser(login: "ada"))"#)
        let (ada, response) = try await client.sendWithResponse(GetUser(login: "ada"))
        report("\(response.request.method) \(response.request.target)", "\(response.status)", "\(ada)")

        show("A POST with a JSON body", #"client.send(CreateUser(user: User(id: 7, login: "katherine")))"#)
        let created = try await client.send(CreateUser(user: User(id: 7, login: "katherine")))
        report("the response, decoded: \(created)")

        show("An endpoint in one line", #"client.send(.followers(of: "ada", size: 3))"#)
        let followers = try await client.send(.followers(of: "ada", size: 3))
        report(followers.map(\.login).joined(separator: ", "))

        show("All pages, requested when they are needed", #"client.pages(of: ListFollowers(login: "ada").paginated())"#)
        for try await page in client.pages(of: ListFollowers(login: "ada").paginated()) {
            report("page \(page.number): \(page.value.map(\.login).joined(separator: ", "))")
        }

        show("Two requests at the same time", "async let followed = client.send(…)")
        async let followed = client.send(ListFollowers(login: "ada"))
        async let reader = client.send(GetUser(login: "ada"))
        report(try await "\(reader.login) has \(followed.count) followers")

        show("Server-sent events, as they arrive", #"client.events(of: WatchActivity(login: "ada"))"#)
        for try await event in client.events(of: WatchActivity(login: "ada")) {
            report("\(event.event): \(event.data)")
        }

        show(
            "A multipart upload of a file", "client.send(UploadAvatar(…).multipart([.text(…), .file(at: picture, …)]))")
        let receipt = try await upload(client)
        report("the server received \(receipt.bytes) bytes of \(receipt.contentType)")

        show(
            "An error with its cause",
            #"client.send(GetUser(login: "nobody/else?").header("Authorization", …))"#)
        await fail(client)

        show(
            "Where each part of a request comes from",
            #"client.explain(GetUser(login: "ada").header("X-Trace", "1").timeout(.seconds(5)))"#)
        let explanation = try await client.explain(GetUser(login: "ada").header("X-Trace", "1").timeout(.seconds(5)))
        report("\(explanation)")
        await server.stop()
    }

    private static func upload(_ client: HTTPClient) async throws -> Receipt {
        let picture = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID()).png")
        try Data(repeating: 7, count: 100_000).write(to: picture)
        defer { try? FileManager.default.removeItem(at: picture) }
        return try await client.send(
            UploadAvatar(login: "ada").multipart([
                .text("Me, in 1843", name: "caption"),
                .file(at: picture, name: "avatar"),
            ]))
    }

    private static func fail(_ client: HTTPClient) async {
        do {
            _ = try await client.send(GetUser(login: "nobody/else?").header("Authorization", "Bearer secret"))
        } catch let error as HTTPError {
            report("\(error)")
            report("its response, secrets redacted:", "\(error.response?.description ?? "none")")
        } catch {
            report("\(error)")
        }
    }

    private static func fetch(_ argument: String) async throws {
        guard let request = try? HTTPRequest(argument) else {
            print("\"\(argument)\" is not a URL that begins with https:// or http://, such as http://localhost:8080")
            exit(2)
        }
        let response = try await HTTPClient().send(request)
        print(response)
        if let text = try? await response.decode(String.self) { print("\n\(text.prefix(2000))") }
        print("\n\(response.metrics)")
    }

    private static func show(_ title: String, _ code: String) {
        print("\n\(title)\n    \(code)")
    }

    private static func report(_ lines: String...) {
        for line in lines { print("    " + line.replacingOccurrences(of: "\n", with: "\n    ")) }
    }
}
