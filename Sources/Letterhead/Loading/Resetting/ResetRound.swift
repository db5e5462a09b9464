import Synchronization

/// One walk of a reset through a chain, in which each link that is an object is reset once, however often it stands there.
///
/// So a link whose own reset resets the whole chain does not wait for itself. A class, because all who take part share it.
final class ResetRound: Sendable {
    @TaskLocal private static var current: ResetRound?

    /// The links that were reached, kept so that no other takes an identity; nil when the round is over.
    private let reached = Mutex<[ObjectIdentifier: any LoaderLink]?>([:])

    /// Takes part in the round of which the caller is a part, or begins one.
    static func join(_ walk: (ResetRound) async -> Void) async {
        if let current, current.reached.withLock({ $0 != nil }) { return await walk(current) }
        let round = ResetRound()
        await $current.withValue(round) { await walk(round) }
        _ = round.reached.withLock { $0.take() }
    }

    /// Whether it is the first time that the round comes to a link; always, for one that is a value.
    func comes(to link: any LoaderLink) -> Bool {
        guard let identity = identity(of: link) else { return true }
        return reached.withLock { $0?.updateValue(link, forKey: identity) == nil }
    }
}

/// Which object a link is; nil for a value.
func identity(of link: any LoaderLink) -> ObjectIdentifier? {
    type(of: link) is AnyClass ? ObjectIdentifier(link as AnyObject) : nil
}
