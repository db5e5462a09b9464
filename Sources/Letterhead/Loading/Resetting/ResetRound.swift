import Synchronization

/// One reset of a chain, in which each link that is an object is reset once, even if it occurs several times.
///
/// A link whose reset resets the whole chain therefore does not wait for itself. This type is a class because all parts
/// of the chain share it during the reset.
final class ResetRound: Sendable {
    @TaskLocal private static var current: ResetRound?

    /// The links that were reached; nil after the end of the reset. The links are retained, so that their identities
    /// are not reused.
    private let reached = Mutex<[ObjectIdentifier: any LoaderLink]?>([:])

    /// Joins the reset that the caller belongs to, or begins one.
    static func join(_ walk: (ResetRound) async -> Void) async {
        if let current, current.reached.withLock({ $0 != nil }) { return await walk(current) }
        let round = ResetRound()
        await $current.withValue(round) { await walk(round) }
        _ = round.reached.withLock { $0.take() }
    }

    /// Returns whether the reset reaches a link for the first time. Always returns true for a link that is not an
    /// object.
    func comes(to link: any LoaderLink) -> Bool {
        guard let identity = identity(of: link) else { return true }
        return reached.withLock { $0?.updateValue(link, forKey: identity) == nil }
    }
}

/// Returns the identity of a link; nil for a value.
func identity(of link: any LoaderLink) -> ObjectIdentifier? {
    type(of: link) is AnyClass ? ObjectIdentifier(link as AnyObject) : nil
}
