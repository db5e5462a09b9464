public import Letterhead

/// Checks that a loader or a link keeps the laws of `HTTPLoader` and `LoaderLink`.
///
/// Use: one test for each loader and each link of your own. A link is put before a loader that this check makes; a loader
/// is let loose on a ``MockServer``.
///
/// ```swift
/// @Test func `ApplyTenant keeps the laws of a link`() async throws {
///     try await LoaderLaws(link: { ApplyTenant() }).check()
/// }
///
/// @Test func `MyTransport keeps the laws of a loader`() async throws {
///     try await LoaderLaws(loader: { MyTransport() }).check()
/// }
/// ```
///
/// The laws: **completion**: each of many loads at a time ends once, with its own answer, and a link asks the next loader
/// once for each. **Identity**: the request goes down, and comes back in the response, with the id that it had.
/// **Cancellation**: cancelling the task ends the load at once with `.cancelled`, and what is below it too. **Reset**: a
/// reset ends what is in flight before it returns, is passed on exactly once, and later loads work. **Retention**:
/// nothing of a load is kept when it is over. **Validation**, for loaders: a malformed request is refused before anything
/// is sent.
public struct LoaderLaws: Sendable {
    let patience: Duration
    let makeScene: @Sendable () async throws -> any LawScene

    /// Makes a check of a link.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for what should happen at once. Default: 5 s.
    ///   - link: makes the link; called once for each law.
    public init(patience: Duration = .seconds(5), link: @escaping @Sendable () -> any LoaderLink) {
        self.patience = patience
        makeScene = { LinkScene(link()) }
    }

    /// Makes a check of a loader that reaches the network.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for what should happen at once. Default: 5 s.
    ///   - loader: makes the loader; called once for each law.
    public init(patience: Duration = .seconds(5), loader: @escaping @Sendable () -> any HTTPLoader) {
        self.patience = patience
        makeScene = { try await WireScene(loader()) }
    }

    /// The laws that it breaks; empty when it keeps them all.
    ///
    /// - Throws: when the server of the check cannot be started.
    public func violations() async throws -> [LawViolation] {
        var found: [LawViolation] = []
        for law in [completion, identity, cancellation, reset, retention, validation] {
            let scene = try await makeScene()
            found += await law(scene)
            await scene.stop()
        }
        return found
    }

    /// Throws when it breaks a law.
    ///
    /// - Throws: ``LawViolations`` with all that are broken.
    public func check() async throws {
        let violations = try await violations()
        if !violations.isEmpty { throw LawViolations(violations) }
    }
}
