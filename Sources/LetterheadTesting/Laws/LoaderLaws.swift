// SPDX-License-Identifier: MIT
public import Letterhead

/// Checks the laws of `HTTPLoader` and `LoaderLink`.
///
/// Write one test for each custom loader and each custom link. A link is checked above a built-in loader, and a loader
/// with requests to a ``MockServer``, which the check starts.
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
/// The laws:
/// - **Completion**: simultaneous requests end once each, with their own responses. A loader sends each request once. A
///   link calls the next loader once or several times, one after the other as for a retry, or at once as for a hedge.
/// - **Identity**: the request keeps its id in each call to the next loader and in the response, and the response's
///   request has the same scheme, host and port as the original one.
/// - **Cancellation**: if the task is cancelled, the request fails immediately with `.cancelled`, and every call to the
///   loader or the server below ends, too.
/// - **Reset**: a reset ends all requests in progress before it returns. A link passes it on exactly once. A second
///   reset does no harm, and later requests succeed.
/// - **Release**, for links only: before a link calls the next loader again, it has dropped the streamed body that it
///   replaces. The check sends the link a redirect, a 401, a 503, a 304 that confirms nothing and a body that breaks
///   off, over a `Throttle` with one slot.
/// - **Retention**: after a request has ended, the loader keeps no reference to it.
/// - **Validation**, for loaders only: the loader refuses a malformed request before it sends anything.
public struct LoaderLaws: Sendable {
    let patience: Duration
    let makeScene: @Sendable () async throws -> LawScene

    /// Creates a check for a link.
    ///
    /// - Parameters:
    ///   - patience: the time limit for each expected event. Default: 5 seconds.
    ///   - link: creates the link. It is called once for each law.
    public init(patience: Duration = .seconds(5), link: @escaping @Sendable () -> any LoaderLink) {
        self.patience = patience
        makeScene = { LawScene(link: link()) }
    }

    /// Creates a check for a loader that sends requests over the network.
    ///
    /// - Parameters:
    ///   - patience: the time limit for each expected event. Default: 5 seconds.
    ///   - loader: creates the loader. It is called once for each law.
    public init(patience: Duration = .seconds(5), loader: @escaping @Sendable () -> any HTTPLoader) {
        self.patience = patience
        makeScene = { try await LawScene(loader: loader()) }
    }

    /// Returns the violated laws, if any.
    ///
    /// - Throws: an error if the check's server can't start.
    public func violations() async throws -> [LawViolation] {
        var found: [LawViolation] = []
        let laws = [
            ("completion", completion), ("identity", identity), ("cancellation", cancellation), ("reset", reset),
            ("release", release), ("retention", retention), ("validation", validation),
        ]
        for (name, law) in laws {
            let scene = try await makeScene()
            var seen: Set<String> = []
            found += await law(scene).filter { seen.insert($0).inserted }.map { LawViolation(name, nil, $0) }
            await scene.server?.stop()
        }
        return found
    }

    /// Throws an error if the loader or the link violates a law.
    ///
    /// - Throws: ``LawViolations`` with all violations, or an error if the check's server can't start.
    public func check() async throws {
        try await violations().check()
    }
}
