// SPDX-License-Identifier: MIT
import Synchronization

/// Refuses requests while the chain is being reset.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> FollowRedirects() --> HTTPClient.defaultTransport
/// await chain.reset()      // log out: requests are cancelled, and state is discarded
/// ```
///
/// A client contains this link. In a chain of your own, put it first, and use a separate one for each chain.
///
/// - A request that starts during a reset fails immediately with `.resetInProgress`, and nothing is sent. After the
///   reset, you can use the chain again.
/// - A second reset joins the one in progress: it returns when the first reset ends. It also returns when its own task
///   is cancelled, which happens if a request resets the chain that sends it.
public final class ResetGuard: LoaderLink {
    // A class, because all requests and resets must observe the reset in progress.

    /// The resets that have joined the one in progress. Nil if no reset is in progress.
    private let joined = Mutex<[OneShot<Void>]?>(nil)

    package var waiting: Int { joined.withLock { $0?.count ?? 0 } }

    /// The client that contains the link. Nil in a custom chain.
    private let client: ClientIdentity?

    /// Creates a link for one custom chain.
    public init() { client = nil }

    /// Creates the link of a client. ``close(during:)`` resets it.
    init(of client: ClientIdentity) { self.client = client }

    /// Calls the next loader, unless a reset is in progress.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let generation = try joined.withLock { joined throws(HTTPError) in
            guard joined == nil else { throw .resetInProgress(request) }
            return client?.generation
        }
        var adopted = request
        // A request that a custom link above has created belongs to the client as well.
        if let generation, request.context.generation == nil { adopted.context.generation = generation }
        return try await next.load(adopted)
    }

    /// Resets the next loader, or waits for the reset in progress.
    public func reset(next: any HTTPLoader) async {
        guard client == nil else { return await next.reset() }
        await close { await next.reset() }
    }

    /// Refuses requests while a closure resets the chain, or waits for the reset in progress. Before the closure is
    /// called, the client generation ends, so that requests that began earlier are cancelled.
    func close(during reset: () async -> Void) async {
        let end = OneShot<Void>()
        let isFirst = joined.withLock { joined in
            defer { joined = joined.map { $0 + [end] } ?? [] }
            return joined == nil
        }
        guard isFirst else {
            return await withTaskCancellationHandler {
                await end.value
            } onCancel: {
                end.set(())
            }
        }
        client?.endGeneration()
        await reset()
        let others = joined.withLock { $0.take() } ?? []
        for other in others { other.set(()) }
    }
}

extension HTTPError {
    static func resetInProgress(_ request: HTTPRequest) -> HTTPError {
        HTTPError(
            .resetInProgress, request: request, message: "the chain is being reset (retry after the reset)",
            mayHaveBeenSent: false)
    }
}
