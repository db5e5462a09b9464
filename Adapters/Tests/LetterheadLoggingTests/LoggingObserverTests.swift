// SPDX-License-Identifier: MIT
import Foundation
import InMemoryLogging
import Letterhead
import Logging
import LetterheadLogging
import Testing

struct LoggingObserverTests {
    private let handler = InMemoryLogHandler()

    private func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { [handler] _ in handler }
        logger.logLevel = level
        return logger
    }

    private func client(
        _ observer: LoggingObserver, _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: URL(string: "https://a.test") ?? URL(filePath: "/")),
            observers: [observer],
            transport: AnyLoader(respond))
    }

    @Test func `a load is one line at the level info, with its facts as metadata`() async throws {
        let client = client(LoggingObserver(logger(.info))) { HTTPResponse(request: $0, status: .ok) }
        _ = try await client.send(Endpoint<HTTPResponse>(.get, "users/\("ada", name: "login")"))
        let entry = try #require(handler.entries.first)
        #expect(handler.entries.count == 1 && entry.level == .info && "\(entry.message)" == "load.end users/{login}")
        #expect(entry.metadata["status"] == "200" && entry.metadata["load"] != nil)
    }

    @Test func `a failure is an error, and a retry is a warning`() async throws {
        let client = client(LoggingObserver(logger(.warning))) {
            HTTPResponse(request: $0, status: .serviceUnavailable)
        }
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "down").retry(.immediate, maximumRetries: 1))
        #expect(handler.entries.map(\.level) == [.warning, .error])
        #expect(handler.entries.map { "\($0.message)" } == ["retry.decided down", "load.failed down"])
    }

    @Test(arguments: [(404, Logger.Level.info), (500, .error)])
    func `a refused request is information, and a failed server an error`(
        status: Int, level: Logger.Level
    ) async throws {
        let client = client(LoggingObserver(logger(.info))) {
            HTTPResponse(request: $0, status: HTTPStatus(status))
        }
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "a"))
        #expect(handler.entries.map(\.level) == [level])
    }

    @Test func `the lines of a load have the identifier of its trace`() async throws {
        let client = client(LoggingObserver(logger(.debug))) { HTTPResponse(request: $0, status: .ok) }
        let trace = String(repeating: "a", count: 32)
        let context = try #require(TraceContext(traceID: trace, spanID: String(repeating: "b", count: 16)))
        try await TraceContext.$current.withValue(context) {
            _ = try await client.send(Endpoint<HTTPResponse>(.get, "a"))
        }
        let lines = handler.entries.filter { "\($0.message)".hasPrefix("load.") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.metadata["trace.id"] == "\(trace)" })
    }

    @Test func `the lines of a load have the identifier of the trace that it begins`() async throws {
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: URL(string: "https://a.test") ?? URL(filePath: "/")),
            observers: [LoggingObserver(logger(.trace))], tracing: TraceContextPropagation(random: { 10 }),
            transport: AnyLoader { HTTPResponse(request: $0, status: .serviceUnavailable) })
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "a").retry(.immediate, maximumRetries: 1))
        #expect(handler.entries.count > 8)
        #expect(handler.entries.allSatisfy { $0.metadata["trace.id"] == "000000000000000a000000000000000a" })
    }

    @Test func `a lost connection is an error, and a cancelled load is not`() async throws {
        for (code, level) in [(HTTPError.Code.connectionLost, Logger.Level.error), (.cancelled, .info)] {
            let client = client(LoggingObserver(logger(.info))) { throw HTTPError(code, request: $0) }
            _ = try? await client.send(Endpoint<HTTPResponse>(.get, "a"))
            #expect(handler.entries.last?.level == level)
        }
        #expect(handler.entries.count == 2)
    }

    @Test func `no line contains a secret`() async throws {
        let client = client(LoggingObserver(logger(.trace))) { throw HTTPError(.connectionLost, request: $0) }
        _ = try? await client.send(
            Endpoint<HTTPResponse>(.get, "a").query("api_key", "s3cret").header("Authorization", "Bearer s3cret"))
        #expect(handler.entries.count > 5 && !"\(handler.entries)".contains("s3cret"))
    }

    @Test func `a custom level leaves events out`() async throws {
        let observer = LoggingObserver(logger(.trace)) { $0.name == "load.start" ? .notice : nil }
        let client = client(observer) { HTTPResponse(request: $0, status: .ok) }
        _ = try await client.send(Endpoint<HTTPResponse>(.get, "a"))
        #expect(handler.entries.map(\.level) == [.notice])
    }
}
