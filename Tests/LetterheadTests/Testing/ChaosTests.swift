// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct ChaosTests {
    /// Draws ten numbers for each of twenty requests.
    private func numbers(_ seed: UInt64, isReversed: Bool = false) throws -> [String: [Double]] {
        let chaos = Chaos(seed: seed)
        var numbers: [String: [Double]] = [:]
        for _ in 0..<10 {
            for path in isReversed ? (0..<20).reversed() : Array(0..<20) {
                let number = chaos.draw(for: try HTTPRequest("https://h/\(path)"))
                numbers["\(path)", default: []].append(number)
            }
        }
        return numbers
    }

    @Test func `the same seed has the same numbers, whatever the order of requests`() throws {
        let first = try numbers(42)
        #expect(try numbers(42, isReversed: true) == first && Set(first.values.joined()).count == 200)
        let other = try numbers(43)
        #expect(Set(first.values.joined()).isDisjoint(with: other.values.joined()))
    }

    @Test func `the method, the path and the query distinguish requests`() throws {
        let chaos = Chaos(seed: 42)
        var post = try HTTPRequest("https://h/a")
        post.method = .post
        let requests = [try HTTPRequest("https://h/a"), try HTTPRequest("https://h/a?b=1"), post]
        #expect(Set(requests.map { chaos.draw(for: $0) }).count == 3)
    }

    @Test func `the numbers of one request are evenly distributed and independent`() throws {
        let chaos = Chaos(seed: 1)
        let request = try HTTPRequest("https://h/a")
        let numbers = (0..<2_000).map { _ in chaos.draw(for: request) }
        #expect(numbers.allSatisfy { (0..<1).contains($0) })
        for tenth in 0..<10 { #expect((140...260).contains(numbers.filter { Int($0 * 10) == tenth }.count)) }
        let small = zip(numbers, numbers.dropFirst()).filter { $0.0 < 0.2 }
        #expect((0.12...0.28).contains(Double(small.filter { $0.1 < 0.2 }.count) / Double(small.count)))
    }

    @Test func `a seed is random unless it is given, and the description names it`() {
        #expect(Chaos(seed: 42).description == "Chaos(seed: 42)")
        #expect(Set((0..<8).map { _ in Chaos().seed }).count > 1)
    }

    @Test func `stubs have faults by it`() async throws {
        let chaos = Chaos(seed: 42)
        let clock = TestClock(isAutomatic: true)
        let stubs = StubLoader().on(.any(), times: .any) { _ in .status(.ok) }
        let unreliable = StubLoader(clock: clock).on(.any(), times: .any) { call in
            switch chaos.draw(for: call.request) {
            case ..<0.2: .error(.connectionLost)
            case ..<0.4: .status(.serviceUnavailable)
            case ..<0.6: .delayed(.seconds(2), .passThrough(to: stubs))
            default: .passThrough(to: stubs)
            }
        }
        var outcomes: [String: Int] = [:]
        for number in 0..<100 {
            do {
                let response = try await unreliable.load(try HTTPRequest("https://h/\(number)"))
                outcomes["\(response.status.code)", default: 0] += 1
            } catch {
                outcomes["\(error.code)", default: 0] += 1
            }
        }
        #expect(Set(outcomes.keys) == ["connectionLost", "503", "200"])
        #expect(stubs.calls.count == outcomes["200"] && !clock.sleeps.isEmpty && clock.sleeps.count < stubs.calls.count)
    }

    @Test func `a server has faults by it on real sockets`() async throws {
        let chaos = Chaos(seed: 7)
        let server = try await MockServer.start { request in
            switch chaos.draw(for: request) {
            case ..<0.3: .text("hello world").fault(.reset, at: .responseStart)
            case ..<0.4: .text("busy", status: .serviceUnavailable)
            case ..<0.7: .text("hello world").fault(.close, at: .responseBody)
            default: .text("hello world")
            }
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
