import Synchronization

/// One reset of a chain, in which each link that is an object is reset once, even if it occurs several times.
///
/// A link whose reset resets the whole chain therefore does not wait for itself. It is a class, because all
/// participants share it.
final class ResetRound: Sendable {
    @TaskLocal private static var current: ResetRound?

    /// The links that were reached. They are retained, so that their identities are not reused. It is nil after the end
    /// of the reset.
    private let reached = Mutex<[ObjectIdentifier: any LoaderLink]?>([:])

    /// Joins the reset that the caller belongs to, or begins one.
    static func join(_ walk: (ResetRound) async -> Void) async {
        if let current, current.reached.withLock({ $0 != nil }) { return await walk(current) }
        let round = ResetRound()
        await $current.withValue(round) { await walk(round) }
        _ = round.reached.withLock { $0.take() }
    }

    /// Returns whether the reset reaches a link for the first time. For a value it always returns true.
    func comes(to link: any LoaderLink) -> Bool {
        guard let identity = identity(of: link) else { return true }
        return reached.withLock { $0?.updateValue(link, forKey: identity) == nil }
    }
}

/// Returns the identity of a link; nil for a value.
func identity(of link: any LoaderLink) -> ObjectIdentifier? {
    type(of: link) is AnyClass ? ObjectIdentifier(link as AnyObject) : nil
}
