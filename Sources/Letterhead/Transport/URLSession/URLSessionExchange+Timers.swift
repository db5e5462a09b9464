import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionExchange {
    /// Starts the timers of the limits that Foundation does not support, or supports only in whole seconds.
    func startTimers() {
        waitForFirstByte()
        if let limit = request.timeout {
            after(limit) { [weak self] in
                // The timeout does not apply to a streamed body, which is read at the reader's pace. It applies to the
                // body of a response whose status is not accepted.
                guard let self, !isOpenEnded else { return }
                expire("the attempt took longer than its timeout of \(limit)")
            }
        }
        if let left = request.timeLeft {
            after(left) { [weak self] in
                guard let self else { return }
                fail(request.deadlinePassed(while: hasHead ? "receiving the body" : "waiting for the response"))
            }
        }
    }

    private var hasHead: Bool { state.withLock { $0.head != nil } }

    private var isOpenEnded: Bool {
        let head = state.withLock { $0.head }
        return head.map { request.isOpenEnded(after: HTTPStatus($0.statusCode)) } ?? false
    }

    /// Starts the timer of the first byte, and restarts it while the request is still being sent.
    func waitForFirstByte() {
        guard let limit = configuration.firstByteTimeout else { return }
        let wait = state.withLock { state in
            state.firstByteWait += 1
            return state.firstByteWait
        }
        after(limit) { [weak self] in
            guard let self, state.withLock({ $0.head == nil && $0.firstByteWait == wait }) else { return }
            expire("no byte of the response was received within the first-byte timeout of \(limit)")
        }
    }

    private func expire(_ message: String) {
        fail(HTTPError(.timedOut, request: request, message: message))
    }

    private func after(_ limit: Duration, _ action: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: action)
    }
}
