// SPDX-License-Identifier: MIT
import LetterheadFoundation
public import Letterhead

/// Checks the laws of `HTTPLoader` and `LoaderLink`.
///
/// Write one test for each custom loader and for each custom link. The check calls a link with a built-in loader below
/// it. A loader sends its requests to a ``MockServer``, which the check starts.
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
/// - **Completion**: each of several simultaneous requests ends once, with its own response. A loader sends each
///   request once. A link calls the next loader once or several times, one call after the other as for a retry, or all
///   at once as for a hedge.
/// - **Identity**: the request keeps its id in each call to the next loader and in the response. The request in the
///   response has the same scheme, host and port as the original one.
/// - **Cancellation**: if the task is cancelled, the request fails immediately with `.cancelled`. Every call to the
///   loader or the server below ends, too.
/// - **Reset**: a reset ends all requests in progress before it returns. A link passes it on exactly once. A second
///   reset does no harm, and later requests succeed.
/// - **Release**, for links only: before a link calls the next loader a second time, it drops the first streamed body.
///   The check sends the link a redirect, a 401, a 503, a 304 that confirms nothing and a body that breaks off. All are
///   sent over a `Throttle` with one slot.
/// - **Retention**: after a request has ended, the loader keeps no reference to it.
/// - **Validation**, for loaders only: the loader refuses a malformed request before it sends anything.
public struct LoaderLaws: Sendable {
    private let patience: Duration
    private let makeScene: @Sendable () async throws -> LawScene

    /// Creates a check for a link.
    ///
    /// - Parameters:
    ///   - patience: the time limit for each expected event. Default: 5 seconds.
    ///   - link: creates the link. It's called once for each law.
    public init(patience: Duration = .seconds(5), link: @escaping @Sendable () -> any LoaderLink) {
        self.patience = patience
        makeScene = { LawScene(link: link()) }
    }

    /// Creates a check for a loader that sends requests over the network.
    ///
    /// - Parameters:
    ///   - patience: the time limit for each expected event. Default: 5 seconds.
    ///   - loader: creates the loader. It's called once for each law.
    public init(patience: Duration = .seconds(5), loader: @escaping @Sendable () -> any HTTPLoader) {
        self.patience = patience
        makeScene = { try await LawScene(loader: loader()) }
    }

    /// Returns the violated laws. The array is empty if there are none.
    ///
    /// - Throws: an error if the mock server can't start.
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
    /// - Throws: ``LawViolations`` with all violations, or an error if the mock server can't start.
    public func check() async throws {
        try await violations().check()
    }
}

// Each of these methods checks one law, and returns the reasons why it is violated.
extension LoaderLaws {
    /// Checks that each request ends once, and receives the response that belongs to it.
    private func completion(_ scene: LawScene) async -> [String] {
        let paths = (0..<50).map { "/answer/\($0)" }
        let loads = paths.map { scene.load($0) }
        var reasons: [String] = []
        for (path, load) in zip(paths, loads) {
            switch await load.result(within: patience) {
            case nil: reasons.append("a load does not end")
            case .failure(let error): reasons.append("a request that has a response fails: \(error)")
            case .success(let response):
                let body = try? await response.body.data()
                if body != Data(path.utf8) { reasons.append("a request ends with the response to a different request") }
            }
            let count = scene.record.value.arrivals[path] ?? 0
            if count == 0 { reasons.append("a load does not reach the next loader") }
            if scene.server != nil, count > 1 {
                reasons.append("a loader sends a request \(count) times instead of once")
            }
        }
        return reasons
    }

    /// Checks that the request keeps its id in both directions, and its origin in the response.
    private func identity(_ scene: LawScene) async -> [String] {
        let request = scene.request("/answer/1")
        guard case .success(let response) = await scene.load(request).result(within: patience) else { return [] }
        var reasons: [String] = []
        if scene.server == nil, scene.record.value.ids != [request.id] {
            reasons.append("the next loader received a different id: change the request, do not create a new one")
        }
        if response.request.id != request.id { reasons.append("the response belongs to a different request") }
        if response.request.origin != request.origin {
            reasons.append(
                "the request of the response has a different origin: a link that sends a request to a different host "
                    + "restores the scheme, the host and the port in response.request")
        }
        return reasons
    }

    /// Checks that a cancellation ends the request, in this loader and in the one below.
    private func cancellation(_ scene: LawScene) async -> [String] {
        let load = scene.load("/hang")
        guard await hasArrived(scene) else { return ["a load does not reach the next loader"] }
        load.cancel()
        var reasons = ending(of: await load.result(within: patience), when: "its task is cancelled")
        if await scene.record.value(within: patience, where: { $0.hangsEnded == $0.arrivals["/hang"] }) == nil {
            reasons.append("the loader below continues after the task was cancelled")
        }
        return reasons
    }

    /// Checks that a reset ends requests in progress and is passed on once, and that the loader still works afterwards.
    /// The same must be true for a second reset.
    private func reset(_ scene: LawScene) async -> [String] {
        let load = scene.load("/hang")
        guard await hasArrived(scene) else { return [] }
        let reset = Attempt { await scene.loader.reset() }
        guard await reset.result(within: patience) != nil else {
            load.cancel()
            return ["a reset does not return"]
        }
        var reasons = ending(of: await load.result(within: patience), when: "the chain is reset")
        load.cancel()
        if scene.server == nil, scene.record.value.resets != 1 {
            reasons.append("a reset reaches the next loader \(scene.record.value.resets) times instead of once")
        }
        let again = Attempt { await scene.loader.reset() }
        if await again.result(within: patience) == nil { reasons.append("a second reset does not return") }
        let later = await scene.load("/answer/1").result(within: patience)
        if case .success? = later {} else { reasons.append("a load after a reset fails") }
        return reasons
    }

    /// Checks that a link has dropped the previous response when it calls the next loader again.
    private func release(_ scene: LawScene) async -> [String] {
        guard let (loader, throttle) = scene.throttled else { return [] }
        var reasons: [String] = []
        for path in LawLoader.repeats.keys.sorted() {
            var request = scene.request(path)
            request.responseDelivery = .streamed
            for _ in 1...2 {
                let load = Attempt { [request] in try await loader.load(request).body.data() }
                guard await isStuck(load, behind: throttle) else { continue }
                load.cancel()
                reasons.append(
                    "the next loader is called again while the body of an earlier response (\(path)) holds a slot of a "
                        + "Throttle: call body.discard() before")
                break
            }
        }
        return reasons
    }

    /// Returns whether a load still waits for a slot after the time limit. Any other load that hasn't ended is only
    /// slow.
    private func isStuck(_ load: Attempt<Data>, behind throttle: Throttle) async -> Bool {
        for _ in 1...12 {
            if await load.result(within: patience) != nil { return false }
            if throttle.waiting > 0 { return true }
        }
        return true
    }

    /// Checks that nothing is retained after a request has ended.
    private func retention(_ scene: LawScene) async -> [String] {
        let isReleased = Watched(false)
        await load(scene, releasing: isReleased)
        let isFree = await isReleased.value(within: patience) { $0 } != nil
        return isFree ? [] : ["a request is retained after its load has ended"]
    }

    /// Checks that a loader refuses a malformed request and doesn't send it.
    private func validation(_ scene: LawScene) async -> [String] {
        guard scene.server != nil else { return [] }
        var request = scene.request("/answer/1")
        request.headers["X-Law"] = "a\r\nX-Injected: 1"
        let result = await scene.load(request).result(within: patience)
        var reasons: [String] = []
        if case .failure(let error as HTTPError)? = result, error.code == .invalidRequest {
        } else {
            reasons.append("a header value with a line break is not .invalidRequest: call request.validate() first")
        }
        if !scene.record.value.arrivals.isEmpty { reasons.append("a malformed request was sent") }
        return reasons
    }

    /// Sends a request that contains an object, and drops both.
    private func load(_ scene: LawScene, releasing isReleased: Watched<Bool>) async {
        var request = scene.request("/answer/1")
        request[option: Witness.Option.self] = Witness(isReleased)
        _ = await Attempt { [request] in _ = try await scene.loader.load(request) }.result(within: patience)
    }

    /// Waits until a request for `/hang` arrives.
    private func hasArrived(_ scene: LawScene) async -> Bool {
        let facts = await scene.record.value(within: patience) { $0.arrivals["/hang"] != nil }
        // A link may call the next loader several times at once, and nothing shows which call is the last one. So this
        // waits a moment for further calls.
        try? await Task.sleep(for: .milliseconds(5))
        return facts != nil
    }

    private func ending<Value>(of result: Result<Value, any Error>?, when cause: String) -> [String] {
        switch result {
        case nil: ["a load continues when \(cause)"]
        case .success: ["a load without a response ends with one when \(cause)"]
        case .failure(let error):
            (error as? HTTPError)?.code == .cancelled
                ? [] : ["a load ends with \(error) instead of .cancelled when \(cause)"]
        }
    }
}

/// An object that reports when it is released.
private final class Witness: Sendable {
    enum Option: HTTPRequestOption {
        static let defaultOptionValue: Witness? = nil
    }

    private let isReleased: Watched<Bool>

    init(_ isReleased: Watched<Bool>) { self.isReleased = isReleased }

    deinit { isReleased.change { $0 = true } }
}
