// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// A body that encodes the body inside it only once: every attempt, redirect, signature and record uses the first
/// bytes. Request copies share it, and it keeps the bytes as long as they exist.
///
/// It keeps nothing of a body that isn't in memory, or that can be sent only once.
final class EncodedOnce: SteadyBody {
    let base: any HTTPBody
    private let first = Mutex<Data?>(nil)

    init(_ base: any HTTPBody) { self.base = base }

    /// Wraps a body for a request. It takes an existential, because a member would copy the body.
    static func holding(_ body: any HTTPBody) -> any HTTPBody {
        guard let steady = body as? any SteadyBody else { return EncodedOnce(body) }
        return steady.mapBodies(holding) ?? body
    }

    /// Returns a body that can be read without deciding which bytes are sent, unless they are decided already.
    fileprivate static func described(_ body: any HTTPBody) -> any HTTPBody {
        if let once = body as? EncodedOnce { return once.isDecided ? once : EncodedOnce(once.base) }
        return (body as? any SteadyBody)?.mapBodies(described) ?? body
    }

    var isDecided: Bool { first.withLock { $0 != nil } }

    var isEmpty: Bool { base.isEmpty }
    var additionalHeaders: HTTPHeaders { base.additionalHeaders }
    var contentLength: Int? { base.contentLength }
    var isReplayable: Bool { base.isReplayable }

    func encode() throws -> Data {
        // Asking a one-shot body for its chunks could use it up.
        guard isReplayable, let data = try chunks().data else { return try base.encode() }
        return data
    }

    func chunks() throws -> BodyChunks {
        if let data = first.withLock({ $0 }) { return BodyChunks(data) }
        let chunks = try base.chunks()
        guard isReplayable, let data = chunks.data else { return chunks }
        return BodyChunks(
            first.withLock { first in
                let kept = first ?? data
                first = kept
                return kept
            })
    }
}

extension EncodedOnce: CustomStringConvertible, CustomReflectable {
    var description: String { String(describing: base) }
    var customMirror: Mirror { Mirror(describing: self) }
}

/// A body that produces the same bytes each time without keeping a copy of them. They are stored or streamed, or the
/// bodies that it contains are encoded once.
protocol SteadyBody: HTTPBody {
    /// Returns the same body with changed bodies inside. Default: nil (it contains no body that could change).
    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> Self?
}

extension SteadyBody {
    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> Self? { nil }
}

extension HTTPRequest {
    /// The body for a description. Reading it doesn't decide which encoder the load uses.
    package var describedBody: any HTTPBody { EncodedOnce.described(body) }
}

extension EmptyBody: SteadyBody {}
