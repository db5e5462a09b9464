// SPDX-License-Identifier: MIT
import LetterheadFoundation
public import Letterhead
import Synchronization

/// A transport that adds the faults of ``Chaos`` to another loader.
///
/// ```swift
/// let chaos = ChaosLoader(Chaos(resets: 0.1, storms: 0.05), over: stubs, clock: clock)
/// let client = HTTPClient(environment: environment, retrying: Retry.Settings(maximumRetries: 5), transport: chaos)
/// ```
///
/// The error of a fault and the responses of a status storm contain the seed: `chaos with seed 42: …`. To reproduce the
/// faults, pass the same seed: `Chaos(seed: 42)`. A corrupt body is not an error by itself, so every response of this
/// loader has the header `X-Chaos-Seed`. ``description`` contains the seed, too; print it if a test fails.
///
/// To cause the faults on a real socket, see ``answer(_:_:)``.
public final class ChaosLoader: HTTPLoader, CustomStringConvertible {
    // This type is a class because all references count the same requests.

    private let chaos: Chaos
    private let next: any HTTPLoader
    private let exchange: MockExchange
    private let counts = Mutex<[String: Int]>([:])

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - chaos: the faults.
    ///   - next: the loader whose responses receive the faults. Default: a loader that responds with an empty `200 OK`.
    ///   - clock: measures delays and the time limits of requests. Default: the continuous clock.
    public init(
        _ chaos: Chaos, over next: any HTTPLoader = AnyLoader { HTTPResponse(request: $0, status: .ok) },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.chaos = chaos
        self.next = next
        exchange = MockExchange(clock: clock)
    }

    /// The name of the type and the seed.
    public var description: String { "ChaosLoader(seed: \(chaos.seed))" }

    /// Responds with the next loader and the faults of the request.
    ///
    /// - Throws: `.connectionLost` for a reset, and for a truncated body; `.timedOut` if a time limit of the request
    ///   passes; the errors of the next loader. For a streamed response, the error of a truncated body is thrown while
    ///   the body is read.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try exchange.check(request)
        let plan = plan("\(request.method) \(request.target)")
        return try await exchange.load(request) { request in
            if plan.delay > .zero { try await self.exchange.clock.pause(for: plan.delay) }
            switch plan.fault {
            case .reset: throw self.failure(of: request, "the connection was reset")
            case .refusal:
                return HTTPResponse(
                    request: request, status: .serviceUnavailable,
                    headers: ["X-Chaos-Seed": "\(self.chaos.seed)"],
                    body: HTTPResponseBody(Data("chaos with seed \(self.chaos.seed)".utf8)))
            default: return try await self.damaged(try await self.next.load(request), by: plan)
            }
        }
    }

    /// Resets the next loader.
    public func reset() async { await next.reset() }

    /// Returns the response of a ``MockServer`` to a request, with faults that occur on the real socket.
    ///
    /// ```swift
    /// let chaos = ChaosLoader(Chaos(seed: 42, resets: 0.2))
    /// let server = try await MockServer.start { request in
    ///     try await chaos.answer(request) { try .json(User(login: "ada")) }
    /// }
    /// ```
    ///
    /// A reset is a TCP reset, a truncation ends the connection in the middle of the body, and a drip slows the
    /// connection down. Delays use the clock of this loader.
    ///
    /// - Parameters:
    ///   - request: the request that the server has received.
    ///   - make: returns the response without a fault.
    /// - Throws: the error of `make`, and `CancellationError` if the client disconnects during a delay.
    public func answer(
        _ request: MockServer.Request, _ make: () async throws -> MockServer.Response
    ) async throws -> MockServer.Response {
        let plan = plan("\(request.method) \(request.target)")
        if plan.delay > .zero { try await exchange.clock.pause(for: plan.delay) }
        if plan.fault == .refusal {
            return .text("chaos with seed \(chaos.seed)", status: .serviceUnavailable)
        }
        var response = try await make()
        response.headers["X-Chaos-Seed"] = "\(chaos.seed)"
        switch plan.fault {
        case .reset: response = response.fault(.reset, at: .responseStart)
        case .truncation: response = response.fault(.close, at: .responseBody)
        case .corruption(let share): response.body.corrupt(at: share)
        default: break
        }
        return chaos.drip > .zero ? response.fault(.slow(bytes: 16, every: chaos.drip), at: .responseBody) : response
    }

    private func plan(_ key: String) -> ChaosPlan {
        let occurrence = counts.withLock { counts in
            defer { counts[key, default: 0] += 1 }
            return counts[key, default: 0]
        }
        return chaos.plan(key, occurrence: occurrence)
    }

    private func failure(of request: HTTPRequest, _ text: String) -> HTTPError {
        HTTPError(.connectionLost, request: request, message: "chaos with seed \(chaos.seed): \(text)")
    }

    private func damaged(_ response: HTTPResponse, by plan: ChaosPlan) async throws -> HTTPResponse {
        var response = response
        response.headers["X-Chaos-Seed"] = "\(chaos.seed)"
        // The next loader has saved the body of a download to a file. The body is read from the file, so that it can be
        // changed and delivered again.
        if let file = response.savedFile { response.body = HTTPResponseBody(try Data(contentsOf: file)) }
        guard plan.fault != nil || chaos.drip > .zero else { return response }
        var data = try await response.body.data()
        var isCut = false
        if case .truncation(let share) = plan.fault {
            data = data.prefix(Int(Double(data.count) * share))
            isCut = true
        }
        if case .corruption(let share) = plan.fault { data.corrupt(at: share) }
        guard isCut || chaos.drip > .zero else {
            response.body = HTTPResponseBody(data)
            return response
        }
        let error = isCut ? failure(of: response.request, "the body was truncated") : nil
        response.body = HTTPResponseBody(
            pieces: data.pieces(of: chaos.drip > .zero ? 16 : max(1, data.count)).map { (chaos.drip, $0) },
            clock: exchange.clock, failure: error)
        // A response that is not streamed is read here, so that the error is that of the load.
        return response.request.responseDelivery == .buffered
            ? try await response.delivered(to: response.request) : response
    }
}

extension Data {
    /// Changes one byte. Its position is given as a share of the length, from 0 to 1.
    fileprivate mutating func corrupt(at share: Double) {
        guard !isEmpty else { return }
        self[index(startIndex, offsetBy: Swift.min(count - 1, Int(Double(count) * share)))] ^= 0x55
    }

    /// Returns the bytes in pieces of a size.
    fileprivate func pieces(of size: Int) -> [Data] {
        stride(from: startIndex, to: endIndex, by: size).map { Data(self[$0..<Swift.min(endIndex, $0 + size)]) }
    }
}
