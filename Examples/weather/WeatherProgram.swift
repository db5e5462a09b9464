// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A package that keeps Foundation's session on Apple platforms writes this line for Linux only.
typealias URLSession = ClientSession

/// An SDK, written for `URLSession`.
struct Forecasts: Sendable {
    let base: URL
    var session = URLSession.shared

    func today(in city: String) async throws -> String {
        let (data, response) = try await session.data(from: base.appendingPathComponent("today/\(city)"))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return status == 200 ? String(decoding: data, as: UTF8.self) : "status \(status)"
    }

    func warnings(in city: String) -> AsyncThrowingStream<String, any Error> {
        let (session, url) = (session, base.appendingPathComponent("warnings/\(city)"))
        return AsyncThrowingStream { continuation in
            let reader = Task {
                do {
                    for try await line in try await session.bytes(from: url).0.lines { continuation.yield(line) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in reader.cancel() }
        }
    }
}

/// Code for `URLSession` over a client, against a local server: `swift run weather`.
@main struct WeatherProgram {
    static func main() async throws {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let server = try await MockServer.start { request in
            switch request.path {
            case "/today/rome": return .text("sun")
            case "/today/oslo": return .text("rain")
            case "/today/nowhere":
                arrived.yield()
                try await Task.sleep(for: .seconds(60))
                return .text("too late")
            case "/warnings/rome":
                let lines = AsyncStream(unfolding: {
                    try? await Task.sleep(for: .milliseconds(20))
                    return Data("storm\n".utf8)
                })
                return MockServer.Response(chunks: lines)
            default: return .text("no such city", status: 404)
            }
        }
        let forecasts = Forecasts(base: server.url)

        print("The shared session:")
        print("    today in Rome:", try await forecasts.today(in: "rome"))
        print("    a status is no error:", try await forecasts.today(in: "atlantis"))

        print("A stream, which URLSession doesn't have on Linux. The server never ends it:")
        var count = 0
        for try await warning in forecasts.warnings(in: "rome") {
            print("    \(warning)")
            count += 1
            if count == 3 { break }
        }

        print("A cancelled task has the error of URLSession:")
        let reader = Task { try await forecasts.today(in: "nowhere") }
        for await _ in arrivals { break }
        reader.cancel()
        do { _ = try await reader.value } catch let error as URLError where error.code == .cancelled {
            print("    URLError.cancelled")
        }

        print("The same SDK over a client that retries and prints what it sends:")
        server.enqueue(.response(.text("busy", status: 503)))
        let printer = PrintLoader(.line) { print("    \($0)") }
        let client = HTTPClient(retrying: Backoff(.immediate, maximumRetries: 2), attemptLinks: printer)
        let patient = Forecasts(base: server.url, session: URLSession(client))
        print("    today in Oslo:", try await patient.today(in: "oslo"))

        print("Without a network:")
        let mock = MockLoader.urlRequests { request in
            guard let url = request.url,
                let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
            else { throw URLError(.badURL) }
            return (head, Data("snow".utf8))
        }
        let stubbed = Forecasts(base: server.url, session: URLSession(HTTPClient(transport: mock)))
        print("    today in Rome:", try await stubbed.today(in: "rome"))
        await server.stop()
    }
}
