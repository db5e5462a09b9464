// SPDX-License-Identifier: MIT
import Synchronization

/// What a load adds to its request: the client, the template, and what links must know of each other.
///
/// The call site creates it for each load, so that a request that is sent again begins without an earlier load's
/// values. Links read it through the request's properties.
struct LoadContext: Sendable {
    /// The client and its generation, or nil without a client. A link that several clients share must distinguish them,
    /// because each has its own credentials, cookies and environment.
    var generation: ClientGeneration?
    /// The environment that the client will apply. Descriptions use it until it is applied.
    var environment: ClientEnvironment?
    var homeOrigin: HTTPOrigin?
    /// The template that the request was built from, which is `any RequestTemplate`.
    var template: (any Sendable)?
    /// The `Accept` value for a response that will be decoded, or nil if the request sets it. It applies if no
    /// environment sets the header.
    var accept: String?
    /// When the load must have ended: the request's deadline, or its operation's.
    var deadline: DeadlinePoint?
    var settings: ClientSettings?
    /// The outermost load of a download. It moves the file to its destination.
    var download: DownloadOwner?
    /// How many of the request's progress updates a call site ends. A link may add others.
    var ownedUpdates = 0
    /// Records the load's events, or nil if the load isn't observed.
    var observation: Observation?
    var exchange: Observation.Exchange?
    var values = HTTPRequestOptions()
}

extension HTTPRequest {
    /// What links know of the load, such as the servers that it was sent to. The values are typed like options, but
    /// callers don't set them.
    ///
    /// A load begins without values, even if the request was sent before. A link that knows something sets it in the
    /// request that it passes on, or in the returned response's or error's request. ``Retry`` and ``Authenticate`` copy
    /// a result's values to the next attempt's request.
    public var loadValues: HTTPRequestOptions {
        get { context.values }
        _modify { yield &context.values }
    }

    /// The origin that the request is for, while a link sends it to another server for that origin. Otherwise nil.
    ///
    /// A link that chooses a server sets it, and removes it from the response's or error's request. Links below can
    /// then tell that both origins belong together. ``TraceContextPropagation`` sends its headers for this origin.
    public var logicalOrigin: HTTPOrigin? {
        get { loadValues[option: LogicalOrigin.self] }
        set { loadValues[option: LogicalOrigin.self] = newValue }
    }

    /// Why the request was sent without its client's credentials, or nil if it wasn't.
    var unsignedReason: String? {
        get { loadValues[option: UnsignedReason.self] }
        set { loadValues[option: UnsignedReason.self] = newValue }
    }
}

private enum LogicalOrigin: HTTPRequestOption {
    static let defaultOptionValue: HTTPOrigin? = nil
}

private enum UnsignedReason: HTTPRequestOption {
    static let defaultOptionValue: String? = nil
}

final class ClientSettings: Sendable {
    /// The validators, transformers and closures that a derived client adds to the request's. They aren't among the
    /// request's options, so that sending the request again doesn't add them twice.
    let additions: HTTPRequestOptions
    let apply: @Sendable (inout HTTPRequest) -> Void

    init(additions: HTTPRequestOptions, apply: @escaping @Sendable (inout HTTPRequest) -> Void) {
        (self.additions, self.apply) = (additions, apply)
    }
}

/// The outermost load of a download. If one client is another's transport, only the outer load has accepted the
/// response when it ends, so only it replaces the file.
final class DownloadOwner: Sendable {
    private let ended = Atomic(false)

    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }
}

extension HTTPRequest {
    var client: ClientIdentity? { context.generation?.client }

    /// What a derived client adds to the request's own validators, transformers and closures.
    var additions: HTTPRequestOptions { context.settings?.additions ?? HTTPRequestOptions() }

    var observation: Observation? {
        get { context.observation }
        set { context.observation = newValue }
    }

    /// Makes this request a part of the load that it is sent for. It then has the same client, but no validators of a
    /// derived client, no file and no progress.
    mutating func join(loadOf original: HTTPRequest) {
        let own = context
        context = original.context
        (context.template, context.accept) = (own.template, own.accept)
        (context.settings, context.download, context.ownedUpdates) = (nil, nil, 0)
        // This request may have another environment.
        context.environment = context.environment.map { ClientEnvironment($0.environment) }
    }

    /// Sets `Accept` (RFC 9110, 12.5.1) to the decoder's media types, if the response will be decoded and the header is
    /// neither set nor omitted.
    mutating func fillAccept() {
        guard let accept = context.accept, !headers.contains(.accept), !omittedHeaders.contains(.accept) else { return }
        headers.append(.accept, accept)
    }
}
