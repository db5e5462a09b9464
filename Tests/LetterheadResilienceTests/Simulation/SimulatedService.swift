// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// A service with a limited number of requests per second, which is well, overloaded, down and well again.
final class SimulatedService: HTTPLoader {
    enum Phase: Int, CaseIterable {
        case well, overloaded, down, recovered
    }

    /// When each phase ends.
    static let ends: [Duration] = [.seconds(40), .seconds(52), .seconds(64), .seconds(76)]
    /// How long a client waits before it gives up an attempt.
    private static let timeout = Duration.seconds(1)
    /// The longest queue. A request that would wait longer is refused.
    private static let longestWait = Duration.seconds(2)

    private struct State {
        /// When the requests that have arrived are done.
        var isFree = Duration.zero
        var sent = [Int](repeating: 0, count: Phase.allCases.count)
    }

    private let state = Mutex(State())
    private let time: SimulatedTime
    private let random = Seeded(7)

    init(_ time: SimulatedTime) { self.time = time }

    /// The number of requests in each phase.
    var sent: [Int] { state.withLock { $0.sent } }

    static func phase(at point: Duration) -> Phase { Phase(rawValue: ends.count { $0 <= point }) ?? .recovered }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let now = time.now.offset
        let phase = Self.phase(at: now)
        if phase == .down {
            state.withLock { $0.sent[phase.rawValue] += 1 }
            try await pause(.milliseconds(5), request)
            throw HTTPError(.cannotConnect, request: request, mayHaveBeenSent: false)
        }
        // One in 50 responses is slow.
        let latency: Duration = random.unit() < 0.02 ? .milliseconds(400) : .milliseconds(10 + 20 * random.unit())
        let capacity = phase == .overloaded ? 350.0 : 750.0
        let wait = state.withLock { state -> Duration? in
            state.sent[phase.rawValue] += 1
            let wait = max(state.isFree - now, .zero)
            guard wait <= Self.longestWait else { return nil }
            // The service works on a request even if its client has given up.
            state.isFree = now + wait + .seconds(1 / capacity)
            return wait
        }
        guard let wait else {
            try await pause(.milliseconds(5), request)
            return HTTPResponse(request: request, status: .serviceUnavailable)
        }
        try await pause(min(wait + latency, Self.timeout), request)
        if wait + latency > Self.timeout { throw HTTPError(.timedOut, request: request) }
        return HTTPResponse(request: request, status: .ok)
    }

    private func pause(_ duration: Duration, _ request: HTTPRequest) async throws(HTTPError) {
        do { try await time.sleep(for: duration) } catch { throw HTTPError(.cancelled, request: request) }
    }
}
