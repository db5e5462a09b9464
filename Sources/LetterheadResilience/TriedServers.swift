// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// The servers that a load was sent to. All attempts in the load, and the requests that a hedge sends at the same time,
/// share one object.
final class TriedServers: Sendable {
    private let state = Mutex<[HTTPOrigin]>([])
    private let overtaken = Atomic(false)

    /// The servers in the order in which the load first tried them.
    var origins: [HTTPOrigin] { state.withLock { $0 } }

    func insert(_ origin: HTTPOrigin) {
        state.withLock { origins in
            if !origins.contains(origin) { origins.append(origin) }
        }
    }

    /// Removes a server that has responded well, so that a redirect can lead to it.
    func remove(_ origin: HTTPOrigin) { state.withLock { $0.removeAll { $0 == origin } } }

    /// Whether a hedge has received the first good response, so that the remaining requests are cancelled.
    var isOvertaken: Bool {
        get { overtaken.load(ordering: .acquiring) }
        set { overtaken.store(newValue, ordering: .releasing) }
    }
}

extension HTTPRequest {
    /// The servers that this load was sent to without success, or nil if no link has set it.
    var triedServers: TriedServers? {
        get { loadValues[option: Tried.self] }
        set { loadValues[option: Tried.self] = newValue }
    }

    /// The only server that may receive this request, or nil if any server may. A server that sent a 401 with a nonce
    /// is the only one that accepts the request with its answer. In the request of a response, it is the server that
    /// sent a 401.
    var boundServer: HTTPOrigin? {
        get { loadValues[option: BoundServer.self] }
        set { loadValues[option: BoundServer.self] = newValue }
    }
}

private enum Tried: HTTPRequestOption {
    static let defaultOptionValue: TriedServers? = nil
}

private enum BoundServer: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}
