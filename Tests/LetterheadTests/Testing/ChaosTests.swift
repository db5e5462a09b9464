// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@testable import LetterheadTesting

@Suite struct ChaosTests {
    private let chaos = Chaos(
        seed: 42, latency: .exponential(mean: .milliseconds(50)), resets: 0.2, storms: 0.1, truncations: 0.2,
        corruptions: 0.2)

    /// Sends 200 requests, and describes what happened to each path.
    private func outcomes(_ chaos: Chaos, isReversed: Bool = false) async throws -> [String: [String]] {
        let loader = ChaosLoader(
            chaos,
            over: AnyLoader {
                HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data("hello world".utf8)))
            },
            clock: TestClock(isAutomatic: true))
        var outcomes: [String: [String]] = [:]
        for path in isReversed ? (0..<20).reversed() : Array(0..<20) {
            for _ in 0..<10 {
                let request = try HTTPRequest("https://h/\(path)")
                do {
                    let response = try await loader.load(request)
                    let text = String(decoding: response.body.buffered ?? Data(), as: UTF8.self)
                    outcomes["\(path)", default: []].append("\(response.status.code) \(text)")
                } catch {
                    outcomes["\(path)", default: []].append("\(error.code): \(error.message)")
                }
            }
        }
        return outcomes
    }

    @Test func `a download over chaos without faults saves the whole body`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "chaos-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let stubs = StubLoader().on(.any()) { _ in .json("hello") }
        let client = HTTPClient(transport: ChaosLoader(Chaos(), over: stubs))
        let response = try await client.download(try HTTPRequest("https://a.test/x"), to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
        #expect(response.savedByteCount == 5)
    }

    @Test func `a fault of one request does not decide that of the next`() {
        let chaos = Chaos(seed: 1, resets: 0.2, truncations: 0.2)
        let plans = (0..<2_000).map { chaos.plan("a", occurrence: $0).fault }
        var (truncations, resets) = (0, 0)
        for (fault, next) in zip(plans, plans.dropFirst()) {
            guard case .truncation? = fault else { continue }
            truncations += 1
            if case .reset? = next { resets += 1 }
        }
        #expect(truncations > 200 && Double(resets) / Double(truncations) < 0.35)
    }

    @Test func `the same seed has the same faults, whatever the order of requests`() async throws {
        let first = try await outcomes(chaos)
        #expect(try await outcomes(chaos, isReversed: true) == first)
        var other = chaos
        other = Chaos(seed: 43, resets: other.resets, storms: other.storms)
        #expect(try await outcomes(other) != first)
    }

    @Test func `every kind of fault occurs and names the seed`() async throws {
        let all = try await outcomes(chaos).values.flatMap { $0 }
        #expect(all.contains("connectionLost: chaos with seed 42: the connection was reset"))
        #expect(all.contains("connectionLost: chaos with seed 42: the body was truncated"))
        #expect(all.contains("503 chaos with seed 42"))
        #expect(all.contains("200 hello world"))
        #expect(all.contains { $0.hasPrefix("200 ") && $0 != "200 hello world" && $0.utf8.count >= 15 })
    }

    @Test func `a drip sends pieces of 16 bytes, and a timeout bounds it`() async throws {
        let clock = TestClock()
        let loader = ChaosLoader(
            Chaos(seed: 1, drip: .seconds(1)),
            over: AnyLoader {
                HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(Data(repeating: 1, count: 160)))
            },
            clock: clock)
        let request = try HTTPRequest("https://h/")
        let response = try await clock.run { try await loader.load(request) }
        #expect(response.body.buffered?.count == 160)
        #expect(clock.now.offset == .seconds(10))
        var short = request
        short.timeout = .seconds(3)
        let limited = short
        let error = try await #require(throws: HTTPError.self) {
            try await clock.run { try await loader.load(limited) }
        }
        #expect(error.code == .timedOut)
    }

    @Test func `a server has the same faults on real sockets`() async throws {
        let chaos = ChaosLoader(Chaos(seed: 7, resets: 0.3, storms: 0.1, truncations: 0.3))
        let server = try await MockServer.start { request in
            try await chaos.answer(request) { .text("hello world") }
        }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        var codes: Set<String> = []
        for number in 0..<40 {
            do {
                _ = try await client.send(TestEndpoint("\(number)"))
                codes.insert("ok")
            } catch let error as HTTPError { codes.insert("\(error.code)") }
        }
        #expect(codes == ["ok", "connectionLost", "invalidResponse", "unacceptableStatus"])
        await server.stop()
    }
}
