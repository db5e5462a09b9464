// SPDX-License-Identifier: MIT
import Synchronization

/// Tells a link that chooses among several servers which of them the same load has already been sent to.
///
/// Use it only to write such a link, and store it in ``HTTPRequest/triedServers``. All attempts of a load and the
/// requests that a link sends at once share one object.
public final class TriedServers: Sendable {
    private let state = Mutex<[HTTPOrigin]>([])
    private let overtaken = Atomic(false)

    public init() {}

    /// The servers in the order in which they were tried first.
    public var origins: [HTTPOrigin] { state.withLock { $0 } }

    public func insert(_ origin: HTTPOrigin) {
        state.withLock { origins in
            if !origins.contains(origin) { origins.append(origin) }
        }
    }

    /// Removes a server that has responded well, so that the request after a redirect may be sent to it.
    public func remove(_ origin: HTTPOrigin) { state.withLock { $0.removeAll { $0 == origin } } }

    /// Whether a hedge has had the first good response, so that the other requests are cancelled.
    package var isOvertaken: Bool {
        get { overtaken.load(ordering: .acquiring) }
        set { overtaken.store(newValue, ordering: .releasing) }
    }
}

extension HTTPRequest {
    /// The origin that the request is for, while a link sends it to another server for that origin; otherwise nil.
    package var logicalOrigin: HTTPOrigin? {
        get { context.logicalOrigin }
        set { context.logicalOrigin = newValue }
    }

    /// The servers that this load was sent to without success; nil if no link has set it.
    ///
    /// A link that chooses a server sets it in the request of the response or the error that it returns. ``Retry`` sets
    /// it in the request of the next attempt. A link that sends a request several times at once sets it before the
    /// first one. A load begins without it, so that a request that is sent again has its full choice.
    public var triedServers: TriedServers? {
        get { context.triedServers }
        set { context.triedServers = newValue }
    }

    /// The server that sent the 401 of this request, or that must receive this request, because it answers the nonce of
    /// that 401; nil if any server may.
    ///
    /// A link that chooses a server sets it in the request of a 401, and sends a request that has it to that server.
    public var boundServer: HTTPOrigin? {
        get { context.boundServer }
        set { context.boundServer = newValue }
    }
}

extension HTTPResponse {
    /// The server that has responded for the origin of the request; nil if it is that origin.
    ///
    /// A link that chooses a server sets it. If a `nextURL` names the server, the next page is requested from the origin.
    public var respondingServer: HTTPOrigin? {
        get { self[option: RespondingServer.self] }
        set { self[option: RespondingServer.self] = newValue }
    }
}

private enum RespondingServer: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}
