// SPDX-License-Identifier: MIT
import Synchronization

/// What a load adds to its request: the client, the template, and what links above and below must know of each other.
///
/// The call site creates it for each load, so that nothing of an earlier load applies to a request that is sent again.
/// Links read it through properties of the request.
struct LoadContext: Sendable {
    /// The client that sends the request, and its generation; nil without a client. A link that several clients share
    /// must distinguish them, because each client has its own credentials, cookies and environment.
    var generation: ClientGeneration?
    /// The environment that the client will apply. Descriptions use it until it is applied.
    var environment: ClientEnvironment?
    var homeOrigin: HTTPOrigin?
    /// The template that the request was built from, which is `any RequestTemplate`.
    var template: (any Sendable)?
    /// The value of `Accept` for a response that will be decoded. It applies if an environment does not set the header;
    /// nil if the request sets it.
    var accept: String?
    /// When the load must have ended: the deadline of the request, or of the operation that the request belongs to.
    var deadline: DeadlinePoint?
    var settings: ClientSettings?
    /// The outermost load of a download, which moves the file to its place.
    var download: DownloadOwner?
    /// How many of the request's progress updates a call site ends. A link may add others.
    var ownedUpdates = 0
    /// Records the events of the load; nil if the load is not observed.
    var observation: Observation?
    /// The exchange of which the transport records the events.
    var exchange: Observation.Exchange?
    var values = HTTPRequestOptions()
}

extension HTTPRequest {
    /// What links know of the load, such as the servers that it was sent to. The values are typed, as options are; they
    /// are not settings of the caller.
    ///
    /// A load begins without values, so a request that is sent again has none of an earlier load. A link that knows
    /// something sets it in the request that it passes on, or in the request of the response or the error that it
    /// returns. ``Retry`` and ``Authenticate`` give the values of a result to the request of the next attempt.
    public var loadValues: HTTPRequestOptions {
        get { context.values }
        _modify { yield &context.values }
    }

    /// The origin that the request is for, while a link sends it to another server for that origin; otherwise nil.
    ///
    /// A link that chooses a server sets it, and removes it from the request of the response or the error. Links below
    /// can then tell that both origins belong together; ``TraceContextPropagation`` sends its headers for this origin.
    public var logicalOrigin: HTTPOrigin? {
        get { loadValues[option: LogicalOrigin.self] }
        set { loadValues[option: LogicalOrigin.self] = newValue }
    }

    /// Why the request was sent without the credentials of its client; nil if it was not.
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
    /// The validators, transformers and closures that a derived client adds to those of the request. They are not among
    /// the options of the request, so that a request that is sent again does not have them twice.
    let additions: HTTPRequestOptions
    let apply: @Sendable (inout HTTPRequest) -> Void

    init(additions: HTTPRequestOptions, apply: @escaping @Sendable (inout HTTPRequest) -> Void) {
        (self.additions, self.apply) = (additions, apply)
    }
}

extension LoadContext {
    var additions: HTTPRequestOptions { settings?.additions ?? HTTPRequestOptions() }
}

/// The outermost load of a download. If a client is the transport of another one, only the outer load has accepted the
/// response when it ends, so only it replaces the file.
final class DownloadOwner: Sendable {
    private let ended = Atomic(false)

    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }
}

extension HTTPRequest {
    var client: ClientIdentity? { context.generation?.client }

    var observation: Observation? {
        get { context.observation }
        set { context.observation = newValue }
    }

    /// Makes this request a part of the load of another one, on behalf of which it is sent: it has the same client, but
    /// no validators of a derived client, no file and no progress.
    mutating func join(loadOf original: HTTPRequest) {
        let own = context
        context = original.context
        (context.template, context.accept) = (own.template, own.accept)
        (context.settings, context.download, context.ownedUpdates) = (nil, nil, 0)
        // This request may have another environment.
        context.environment = context.environment.map { ClientEnvironment($0.environment) }
    }

    /// Sets `Accept` (RFC 9110, 12.5.1) to the media types of the decoder, if the response will be decoded and the
    /// header is neither set nor omitted.
    mutating func fillAccept() {
        guard let accept = context.accept, !headers.contains(.accept), !omittedHeaders.contains(.accept) else { return }
        headers[.accept] = accept
    }
}
