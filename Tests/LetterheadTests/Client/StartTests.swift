// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct StartTests {
    /// What happened, in order.
    private let log = Observed<[String]>([])
    private let held = HeldLoader()

    @Test func `a load continues if its task is dropped`() async throws {
        held.start(try .to("https://a.test")) { [log] result in
            log.change { $0.append("\((try? result.get())?.status.code ?? 0)") }
        }
        await held.waitForRunning(1)
        held.open()
        await log.wait { $0 == ["200"] }
    }

    @Test func `another load may be started from a completion`() async throws {
        let chain = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://a.test")
        chain.start(request) { [log] _ in chain.start(request) { _ in log.change { $0.append("second") } } }
        await log.wait { $0 == ["second"] }
    }

    @Test(arguments: 0..<200) func `cancelling a load that ends at the same time calls exactly one completion`(_: Int)
        async throws
    {
        let count = Observed(0)
        let mock = MockLoader { .ok($0) }
        let task = mock.start(try .to("https://a.test")) { _ in count.change { $0 += 1 } }
        task.cancel()
        await count.wait { $0 > 0 }
        #expect(count.value == 1)
    }

    @Test(arguments: [("[1,2]", "[1, 2]"), ("{", "cannotDecodeResponse")])
    func `a template that is started ends with its value or its error`(body: String, outcome: String) async throws {
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.test"),
            transport: MockLoader { .ok($0, body: Data(body.utf8)) })
        await client.start(Get<[Int]>("a")) { [log] result in
            switch result {
            case .success(let numbers): log.change { $0.append("\(numbers)") }
            case .failure(let error): log.change { $0.append("\(error.code)") }
            }
        }.value
        #expect(log.value == [outcome])
    }

    @Test func `cancelling the task of a template ends its request with an error that names it`() async throws {
        let client = HTTPClient(environment: ServerEnvironment("https://a.test"), transport: held)
        let task = client.start(Get<Void>("lost")) { [log] result in
            guard case .failure(let error) = result else { return }
            log.change { $0.append("\(error.code) \(error.request.path.string)") }
        }
        await held.waitForRunning(1)
        task.cancel()
        await task.value
        #expect(log.value == ["cancelled /lost"])
    }
}
