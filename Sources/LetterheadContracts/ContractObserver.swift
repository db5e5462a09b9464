// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation
import Synchronization

/// An observer that notices in production when server responses drift from your types.
///
/// It reports a member when it is missing in the first responses, before it disappears everywhere and before a user
/// reports the failure.
///
/// ```swift
/// let contract = ContractObserver(sampling: 0.01) { finding in
///     if finding.kind.isBreak { print("the server has changed: \(finding)") }
/// }
/// let client = HTTPClient(environment: .production, observers: [contract])
/// ```
///
/// The observer takes a share of the responses that the client has decoded. It decodes them a second time with the same
/// decoder, and records which members the type asks for. It also decodes error bodies, to the template type `Failure`
/// and as problem details. This happens in a separate task after the load, one response after the other. Each finding
/// is reported once, and ``report`` counts all of them.
///
/// A finding names members and types, never a value. If the names of an object are values, such as addresses, decode it
/// to a dictionary: its names aren't reported.
///
/// Some responses are never read:
///
/// - responses of more than 1 MiB, streamed bodies, and responses from a cache
/// - responses to older loads, if more than 64 sampled loads are in progress
/// - responses that arrive while 16 others wait to be decoded
///
/// To check recorded responses, use ``Contract``.
public final class ContractObserver: Sendable {
    private static let (mostLoads, mostResponses, largestBody) = (64, 16, 1 << 20)

    /// The state that the observer and its task share.
    private final class Book: Sendable {
        let state: Mutex<(report: ContractReport, reported: Set<String>)>

        init(limit: Int) { state = Mutex((ContractReport(limit: limit), [])) }
    }

    private let book: Book
    private let sampling: Double
    private let random: @Sendable () -> Double
    private let sampled: AsyncStream<ContractResponse>.Continuation
    /// The last sampled response of each load in progress.
    private let pending = Mutex<[Int: HTTPResponse]>([:])

    /// Creates an observer, and starts the task that decodes the sampled responses.
    ///
    /// - Parameters:
    ///   - sampling: the share of the responses to read, from 0 to 1.
    ///   - maximumMembers: the maximum number of members to keep, in all endpoints together. Further ones are ignored.
    ///     Default: 10,000.
    ///   - random: returns a number from 0 up to 1 for each response. Default: the system random source.
    ///   - report: receives each new finding. It is called in the task of the observer.
    public init(
        sampling: Double, maximumMembers: Int = 10_000,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        report: @escaping @Sendable (ContractReport.Finding) -> Void
    ) {
        let limit = max(1, maximumMembers)
        let book = Book(limit: limit)
        (self.book, self.sampling, self.random) = (book, sampling, random)
        let (stream, sampled) = AsyncStream.makeStream(
            of: ContractResponse.self, bufferingPolicy: .bufferingOldest(Self.mostResponses))
        self.sampled = sampled
        // The task ends when the observer is released.
        Task(priority: .utility) {
            for await response in stream {
                var sample = ContractReport(limit: limit)
                await sample.add(response)
                let new = book.state.withLock { state in
                    state.report.add(sample).filter { state.reported.insert($0.name).inserted }
                }
                for finding in new { report(finding) }
            }
        }
    }

    deinit { sampled.finish() }

    /// All findings in the sampled responses so far.
    public var report: ContractReport { book.state.withLock { $0.report } }
}

extension ContractObserver: MessageObserver {
    public func record(_ event: HTTPEvent) {
        switch event.name {
        case .decodingEnd, .decodingFailed, .loadEnd, .loadFailed, .loadCancelled: break
        default: return
        }
        guard let response = pending.withLock({ $0.removeValue(forKey: event.load) }),
            event.name != .loadCancelled, event.name != .loadEnd
        else { return }
        let isError = !response.request.accepts(response.status)
        guard isError == (event.name == .loadFailed), let template = response.request.template?.root else { return }
        let route = event.route ?? template.path.route ?? "(no route)"
        sampled.yield((response, type(of: template), route, values: nil, isDecoded: event.name == .decodingEnd))
    }

    public func record(_ message: ObservedMessage, of event: HTTPEvent) {
        guard case .response(let response) = message else { return }
        let isSampled = random() < sampling && response.status != .notModified
        let body = isSampled ? response.body.buffered : nil
        pending.withLock { pending in
            pending[event.load] = nil
            guard let body, body.count <= Self.largestBody else { return }
            // An exchange may outlive its load. Its response would then never be removed, so the oldest one makes room.
            if pending.count >= Self.mostLoads, let oldest = pending.keys.min() { pending[oldest] = nil }
            pending[event.load] = response
        }
    }
}

extension RequestTemplate {
    /// The template inside all decorators.
    fileprivate var root: any RequestTemplate {
        var template: any RequestTemplate = self
        while let inner = template.inner { template = inner }
        return template
    }
}
