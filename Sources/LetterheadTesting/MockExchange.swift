// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// What all mocks share with a transport: validation, time limits, and response delivery.
///
/// This type is a class because one request's attempts share its deadline's start.
final class MockExchange: Sendable {
    let clock: any Clock<Duration>
    private let timeline: Timeline
    private let starts = Mutex<[HTTPRequest.ID: Duration]>([:])

    init(clock: any Clock<Duration>) {
        self.clock = clock
        timeline = Timeline(clock)
    }

    /// The time since the mock was created, on its clock.
    var now: Duration { timeline.now }

    /// Refuses a request that a transport would refuse.
    func check(_ request: HTTPRequest) throws(HTTPError) {
        try request.validate()
        if request.body.isReplayable { _ = try request.framedBody() }
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
    }

    /// Returns a handler's response within the request's time limits, in the form that the request specifies.
    func load(
        _ request: HTTPRequest, by handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        var response = try await request.withHTTPErrors {
            guard let time = MockTime(request, clock: clock, deadlineLeft: deadlineLeft(of: request)) else {
                return try await handler(request)
            }
            return time.timing(try await time.limited("waiting for the response") { try await handler(request) })
        }
        // If the handler has passed the request on to another loader, that loader has already saved the download.
        if response.savedFile != nil { return response }
        // A streamed body remains a stream unless the request specifies another delivery, so that tests can observe it.
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

    /// Returns the time left until a request's deadline, on the mock's clock, from the start of the first attempt.
    ///
    /// A client may measure deadlines in real time, which does not pass in a test. The result is nil if the request has
    /// no deadline, or if the mock itself measures real time, because the client then enforces the deadline.
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
