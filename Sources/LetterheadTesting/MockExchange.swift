// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// The behavior that all mocks share with a transport: validation, time limits, and response delivery.
///
/// This type is a class because all attempts for a request share one deadline.
final class MockExchange: Sendable {
    let clock: any Clock<Duration>
    private let timeline: Timeline
    private let starts = Mutex<[HTTPRequest.ID: Duration]>([:])

    init(clock: any Clock<Duration>) {
        self.clock = clock
        timeline = Timeline(clock)
    }

    /// The time since the mock was created, measured on its clock.
    var now: Duration { timeline.now }

    /// Throws an error for a request that a transport would refuse.
    func check(_ request: HTTPRequest) throws(HTTPError) {
        try request.validate()
        if request.body.isReplayable { _ = try request.framedBody() }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
    }

    /// Returns the response of a handler within the request time limits, in the form that the request specifies.
    func load(
        _ request: HTTPRequest, by handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        var response = try await request.withHTTPErrors {
            guard let time = MockTime(request, clock: clock, deadlineLeft: deadlineLeft(of: request)) else {
                return try await handler(request)
            }
            return time.timing(try await time.limited("waiting for the response") { try await handler(request) })
        }
        // If the handler has passed the request to a different loader, that loader has already saved the download.
        if response.savedFile != nil { return response }
        // A streamed body stays a stream unless the request specifies a different delivery, so that tests can observe
        // it.
        let isLeftAlone =
            request.responseDelivery == .buffered && response.body.buffered == nil && !request.hasResponseLimit
        guard isLeftAlone else { return try await response.delivered(to: request) }
        do {
            response.body = try response.body.limited(to: request.responseLimit, response: response)
        } catch {
            throw HTTPError(error, request: request)
        }
        return response
    }

    /// Returns the time left until the deadline of a request. It's measured on the mock clock, from the start of the
    /// first attempt.
    ///
    /// A client may measure deadlines in real time, which doesn't pass in a test. The result is nil if the request has
    /// no deadline. It's also nil if the mock measures real time, because the client then enforces the deadline.
    private func deadlineLeft(of request: HTTPRequest) -> Duration? {
        guard !(clock is ContinuousClock), let limit = request.deadline else { return nil }
        let now = now
        let start = starts.withLock { starts in
            if let start = starts[request.id] { return start }
            starts[request.id] = now
            return now
        }
        return limit - (now - start)
    }
}

/// The time limits of one request in a mock. They are enforced as in a transport.
struct MockTime: Sendable {
    private let request: HTTPRequest
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let deadlineLeft: Duration?

    /// Starts the time limits of a request, or returns nil if it has none.
    ///
    /// - Parameter deadlineLeft: the time left until the deadline on the mock clock, or nil without a deadline.
    init?(_ request: HTTPRequest, clock: any Clock<Duration>, deadlineLeft: Duration?) {
        guard
            request.timeout != nil || request.idleTimeout != nil || request.timeLeft != nil || deadlineLeft != nil
        else { return nil }
        (self.request, self.clock, timeline, self.deadlineLeft) = (request, clock, Timeline(clock), deadlineLeft)
    }

    /// Returns a response with the same limits for its streamed body.
    func timing(_ response: HTTPResponse) -> HTTPResponse {
        guard response.body.buffered == nil else { return response }
        var response = response
        let isOpenEnded = request.isOpenEnded(after: response.status)
        let chunks = response.body.makeAsyncIterator()
        response.body = HTTPResponseBody(length: response.body.length) {
            try await limited("receiving the body", isOpenEnded: isOpenEnded) {
                var chunks = chunks
                return try await chunks.next()
            }
        }
        return response
    }

    /// Runs an operation, and throws an error as soon as it exceeds a limit, even if the operation ignores its
    /// cancellation.
    func limited<Value: Sendable>(
        _ phase: String, isOpenEnded: Bool = false, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let end = OneShot<Result<Value, any Error>>()
        let start = timeline.now
        if let late = limits(since: start, isOpenEnded: isOpenEnded, phase).first(where: { $0.left <= .zero }) {
            throw late.error
        }
        // When this call ends, both tasks have ended or are cancelled.
        let worker = Task {
            do {
                let value = try await work()
                // If the operation has moved the clock past a limit, it is late, even if the timer has not noticed it
                // yet.
                let late = limits(since: start, isOpenEnded: isOpenEnded, phase).first { $0.left <= .zero }
                end.set(late.map { .failure($0.error) } ?? .success(value))
            } catch {
                end.set(.failure(error))
            }
        }
        let timer = Task {
            // The limits are read again after each wait, because a deadline may use a different clock.
            while let next = limits(since: start, isOpenEnded: isOpenEnded, phase).min(by: { $0.left < $1.left }) {
                if next.left <= .zero {
                    end.set(.failure(next.error))
                    return worker.cancel()
                }
                try await clock.pause(for: next.left)
            }
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await end.value
        } onCancel: {
            worker.cancel()
        }.get()
    }

    private func limits(
        since start: Duration, isOpenEnded: Bool, _ phase: String
    ) -> [(left: Duration, error: HTTPError)] {
        var limits: [(left: Duration, error: HTTPError)] = []
        if let deadlineLeft { limits.append((deadlineLeft - timeline.now, request.deadlinePassed(while: phase))) }
        if let left = request.timeLeft { limits.append((left, request.deadlinePassed(while: phase))) }
        if let limit = request.timeout, !isOpenEnded {
            limits.append((limit - timeline.now, passed("attempt timeout", phase)))
        }
        if let limit = request.idleTimeout {
            limits.append((start + limit - timeline.now, passed("idle timeout", phase)))
        }
        return limits
    }

    private func passed(_ limit: String, _ phase: String) -> HTTPError {
        HTTPError(.timedOut, request: request, message: "the \(limit) passed while \(phase)")
    }
}

extension HTTPResponseBody {
    /// Creates a streamed body with pieces that arrive after delays.
    init(pieces: [(delay: Duration, data: Data)], clock: any Clock<Duration>, failure: HTTPError? = nil) {
        let next = Atomic(0)
        self.init(length: nil) {
            let index = next.add(1, ordering: .relaxed).oldValue
            guard index < pieces.count else {
                if let failure { throw failure }
                return nil
            }
            let piece = pieces[index]
            if piece.delay > .zero { try await clock.pause(for: piece.delay) }
            return piece.data
        }
    }
}
