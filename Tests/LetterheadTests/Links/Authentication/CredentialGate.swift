// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization
import Testing

/// A question for credentials that a test answers when it wants to.
final class CredentialGate: Sendable {
    /// The tokens that a server takes.
    final class Tokens: Sendable {
        private let good = Mutex<Set<String>>([])
        func insert(_ token: String) { good.withLock { _ = $0.insert(token) } }
        func contains(_ token: String?) -> Bool { good.withLock { token.map($0.contains) ?? false } }
    }

    let tokens = Tokens()
    private let count = Atomic(0)
    private let questions = AsyncStream.makeStream(of: Int.self)
    private let desk = Mutex((answers: [Secret?](), asking: AsyncStream<Secret?>.Continuation?.none))

    /// How often was asked.
    var asked: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Waits for the value of ``give(_:)``, or for nil when the task is cancelled.
    func next() async -> Secret? {
        questions.continuation.yield(count.add(1, ordering: .sequentiallyConsistent).newValue)
        let (stream, continuation) = AsyncStream.makeStream(of: Secret?.self)
        desk.withLock { desk in
            if desk.answers.isEmpty {
                desk.asking = continuation
            } else {
                continuation.yield(desk.answers.removeFirst())
            }
        }
        for await answer in stream { return answer }
        return nil
    }

    /// Answers the question that was asked, or the next one.
    func give(_ secret: Secret?) {
        desk.withLock { desk in
            if let asking = desk.asking, case .enqueued = asking.yield(secret) {
                desk.asking = nil
            } else {
                desk.answers.append(secret)
            }
        }
    }

    /// Waits until a number of questions were asked.
    func opened(after number: Int) async throws {
        for await question in questions.stream where question >= number { return }
        Issue.record("nobody asked")
    }
}
