import Synchronization

/// Keeps loads out while the chain is being reset.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel() --> FollowRedirects() --> HTTPClient.defaultTransport
/// await chain.reset()      // log out: what runs is cancelled, what is kept is wiped
/// ```
///
/// A load that arrives meanwhile fails at once with `.resetInProgress`; nothing is sent. A reset that is asked for
/// meanwhile joins the one that is running and returns with it, or when its task is cancelled, as that of a load is which
/// resets its own chain. Afterwards the chain works. Put it first, and give each chain one of its own.
public final class ResetGuard: LoaderLink {
    // A class, because everybody who loads or resets must see the reset that is running.

    /// Those who joined the reset that is running; nil when none is.
    private let joined = Mutex<[OneShot<Void>]?>(nil)

    /// How many wait for the reset that is running.
    package var waiting: Int { joined.withLock { $0?.count ?? 0 } }

    /// Makes the link.
    public init() {}

    /// Has the request answered, unless a reset is running.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard joined.withLock({ $0 == nil }) else {
            throw .resetInProgress(request)
        }
        return try await next.load(request)
    }

    /// Resets what is below, or waits for the reset that is running.
    public func reset(next: any HTTPLoader) async {
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
        await next.reset()
        let others = joined.withLock { $0.take() } ?? []
        for other in others { other.set(()) }
    }
}

extension HTTPError {
    /// What becomes of a load that comes while its chain is being reset.
    static func resetInProgress(_ request: HTTPRequest) -> HTTPError {
        HTTPError(
            .resetInProgress, request: request, message: "the chain is being reset; try again afterwards",
            mayHaveBeenSent: false)
    }
}
