// SPDX-License-Identifier: MIT
import Synchronization

/// What a load adds to its request: the client, the template, and what links must know of each other.
///
/// The call site creates it for each load. A request that is sent again therefore begins without earlier values. Links
/// read it through request properties.
struct LoadContext: Sendable {
    /// The client and its generation, or nil without a client. A link that several clients share must distinguish them,
    /// because each has its own credentials, cookies and environment.
    var generation: ClientGeneration?
    /// The environment that the client will apply. Descriptions use it until it is applied.
    var environment: ClientEnvironment?
    var homeOrigin: HTTPOrigin?
    var template: (any RequestConfigurable)?
    /// The time at which the load must have ended. It is the deadline of the request, or of the operation that the
    /// request belongs to.
    var deadline: DeadlinePoint?
    /// The client settings, for requests that links send on behalf of this one. Nil without a client.
    var defaults: CopyOnWrite<ClientDefaults>?
    /// Where events are recorded. Nil if the load isn't observed.
    var observed: ObservedLoad?
    var values = HTTPRequestOptions()
}

/// The observation in which the events of a request are recorded.
struct ObservedLoad: Sendable {
    let observation: Observation
    /// The exchange that the request belongs to. Nil above the link that records exchanges.
    var exchange: Observation.Exchange?
}

/// The initial settings that a client gives its requests. Request settings take precedence, and lists are joined.
struct ClientDefaults: Sendable {
    var headers = HTTPHeaders()
    var query = QueryParameters()
    var options = HTTPRequestOptions()
    /// Validators, transformers and closures that are added to those in the request. They aren't among its options, so
    /// that sending the request again doesn't add them twice.
    var additions = HTTPRequestOptions()
    /// The media types of the client decoder, or nil if it declares none.
    var accept: String?
}

extension HTTPRequest {
    /// What links know of the load, such as the servers that it was sent to. The values are typed like options, but
    /// callers don't set them.
    ///
    /// A load begins without values, even if the request was sent before. A link that knows something sets it in the
    /// request that it passes on, or in the request that belongs to the response or error that it returns. ``Retry``,
    /// ``Authenticate`` and ``FollowRedirects`` copy the values from a result to the next request.
    public var loadValues: HTTPRequestOptions {
        get { context.values }
        _modify { yield &context.values }
    }

    /// The origin that the request is for, while a link sends it to a different server for that origin. Otherwise nil.
    ///
    /// A link that chooses a server sets it, and removes it from the request in the response or error. Links below can
    /// then tell that both origins belong together. ``TraceContextPropagation`` sends its headers for this origin.
    public var logicalOrigin: HTTPOrigin? {
        get { loadValues[option: LogicalOrigin.self] }
        set { loadValues[option: LogicalOrigin.self] = newValue }
    }

    /// Why the request was sent without client credentials, or nil if it was sent with them.
    var unsignedReason: String? {
        get { loadValues[option: UnsignedReason.self] }
        set { loadValues[option: UnsignedReason.self] = newValue }
    }

    /// The outermost load of a download. It moves the file to its destination.
    var download: DownloadOwner? {
        get { loadValues[option: Download.self] }
        set { loadValues[option: Download.self] = newValue }
    }

    /// How many of the progress updates in the request end at their call site. A link may add further updates. They end
    /// when a download is complete.
    var ownedUpdates: Int {
        get { loadValues[option: OwnedUpdates.self] }
        set { loadValues[option: OwnedUpdates.self] = newValue }
    }

    /// The origin that may receive credentials over http, because its environment allows it.
    var openOrigin: HTTPOrigin? {
        get { loadValues[option: OpenOrigin.self] }
        set { loadValues[option: OpenOrigin.self] = newValue }
    }

    /// Secrets in paths that the request had before. A server may write them into a URL that it chooses.
    var earlierSecrets: Set<Secret> {
        get { loadValues[option: EarlierSecrets.self] }
        set { loadValues[option: EarlierSecrets.self] = newValue }
    }
}

private enum LogicalOrigin: HTTPRequestOption { static let defaultOptionValue: HTTPOrigin? = nil }
private enum UnsignedReason: HTTPRequestOption { static let defaultOptionValue: String? = nil }
private enum Download: HTTPRequestOption { static let defaultOptionValue: DownloadOwner? = nil }
private enum OwnedUpdates: HTTPRequestOption { static let defaultOptionValue = 0 }
private enum OpenOrigin: HTTPRequestOption { static let defaultOptionValue: HTTPOrigin? = nil }
private enum EarlierSecrets: HTTPRequestOption { static let defaultOptionValue: Set<Secret> = [] }

/// The outermost load of a download. If one client is the transport for a second one, only the outer load has accepted
/// the response when it ends, so only it replaces the file.
final class DownloadOwner: Sendable {
    private let ended = Atomic(false)

    var hasEnded: Bool { ended.load(ordering: .relaxed) }

    func end() { ended.store(true, ordering: .relaxed) }
}

extension HTTPRequest {
    var client: ClientIdentity? { context.generation?.client }

    /// Validators, transformers and closures that a derived client adds to the request.
    var additions: HTTPRequestOptions { context.defaults?.wrappedValue.additions ?? HTTPRequestOptions() }

    var observation: Observation? {
        get { context.observed?.observation }
        set { context.observed = newValue.map { ObservedLoad(observation: $0) } }
    }

    /// Makes this request a part of the load that it is sent for. It then has the same client, but no validators from a
    /// derived client, no file and no progress.
    mutating func join(loadOf original: HTTPRequest) {
        let template = context.template
        context = original.context
        (context.template, context.defaults) = (template, nil)
        loadValues.remove(Download.self)
        loadValues.remove(OwnedUpdates.self)
        // This request may have a different environment.
        context.environment = context.environment.map { ClientEnvironment($0.environment) }
    }
}
