// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

/// Keeps a value alive after the check.
private final class Kept<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func keep(_ value: Value) { self.value.withLock { $0 = value } }
}

@Suite(.timeLimit(.minutes(3))) struct LeakCheckTests {
    private func leaks(_ operation: () async throws -> Void) async throws -> [String] {
        let error = try await #require(throws: ResourceLeaks.self) {
            try await withLeakCheck(grace: .milliseconds(50), operation)
        }
        return error.resources
    }

    @Test func `a client that ends everything leaks nothing`() async throws {
        let server = try await MockServer.start { _ in try .json(Person.ada) }
        let file = FileManager.default.temporaryDirectory.appending(path: "leak-\(UUID())")
        try await withLeakCheck(grace: .seconds(30)) {
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), attemptLinks: Throttle(limit: 1),
                transport: HTTPClient.makeTransport(TransportConfiguration()))
            _ = try await client.send(GetPerson(login: "ada"))
            _ = try await client.stream(GetPerson(login: "ada")).body.data()
            _ = try await client.download(GetPerson(login: "ada"), to: file)
            _ = try? await client.send(GetPerson(login: "ada").accepting([404]))
        }
        try FileManager.default.removeItem(at: file)
        await server.stop()
    }

    @Test func `a streamed body that is kept unread is a leak of its connection and its slot`() async throws {
        let stubs = StubLoader().on(GetPerson.self) { _ in .stream([Data("a".utf8), Data("b".utf8)]) }
        let kept = Kept<HTTPResponse>()
        let found = try await leaks {
            let client = HTTPClient(
                environment: .of("https://api.test"), attemptLinks: Throttle(limit: 1), transport: stubs)
            kept.keep(try await client.stream(GetPerson(login: "ada")))
        }
        #expect(found.contains { $0.contains("streamed body of GET https://api.test/people/ada") })
        #expect(found.contains { $0.contains("slot of the Throttle for GET https://api.test/people/ada") })
    }

    @Test func `a task that still loads is a leak`() async throws {
        let clock = TestClock()
        let stubs = StubLoader(clock: clock).on(GetPerson.self) { _ in .delayed(.seconds(60), .ada) }
        let kept = Kept<Task<Person, any Error>>()
        let found = try await leaks {
            let client = HTTPClient.over(stubs)
            let task = Task { try await client.send(GetPerson(login: "ada")) }
            kept.keep(task)
            await clock.waitForSleepers(1)
        }
        #expect(found.contains { $0.contains("task that loads GET https://api.test/v1/people/ada") })
        clock.advance(by: .seconds(60))
    }

    @Test func `a transport that is kept is a leak`() async throws {
        let kept = Kept<any HTTPLoader>()
        let found = try await leaks { kept.keep(HTTPClient.makeTransport(TransportConfiguration())) }
        #expect(found == ["a transport of HTTPClient.makeTransport"])
        try await withLeakCheck { kept.keep(HTTPClient.defaultTransport) }
    }

    @Test func `the thousandth registration needs no more of the stack than the first`() async throws {
        let addresses = try await withLeakCheck { (0..<1000).map { _ in stackAddress() } }
        #expect(abs(addresses[0] - addresses[999]) < 4096)
    }

    /// Where the stack is when a resource is described.
    private func stackAddress() -> Int {
        var address = 0
        func described() -> String {
            var here = 0
            address = withUnsafePointer(to: &here) { Int(bitPattern: $0) }
            return "a resource"
        }
        ResourceLedger.lease(described())?.release()
        return address
    }

    @Test func `the error of the operation is thrown`() async {
        await #expect(throws: CancellationError.self) { try await withLeakCheck { throw CancellationError() } }
    }
}
