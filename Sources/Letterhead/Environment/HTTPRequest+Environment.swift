import Synchronization

/// The origin of the client's own environment, which the request carries to the authentication link.
enum HomeOriginOption: HTTPRequestOption {
    /// The client has no environment, or its origin is unknown.
    static let defaultOptionValue: HomeOrigin? = nil
}

/// An origin that is stored as an option. This type is a class so that requests share one object for an environment.
final class HomeOrigin: Sendable {
    let origin: HTTPOrigin

    init(_ origin: HTTPOrigin) { self.origin = origin }
}

extension HTTPRequest {
    /// The origin of the client's own environment, even if the request has another environment.
    ///
    /// If the client's authentication has no `allowedOrigins`, ``Authenticate`` sends its credentials only to this
    /// origin, and sends none if this property is nil. The property is nil if the request sets its environment to nil.
    /// It is also nil if the request has its own environment and a closure provides the client's environment, because
    /// the closure is then not called.
    ///
    /// ``ApplyEnvironment`` sets this property. A custom link that replaces ``ApplyEnvironment`` must also set it, to
    /// the origin of the environment that the link applies.
    public var homeOrigin: HTTPOrigin? {
        get { sharedHomeOrigin?.origin }
        set { sharedHomeOrigin = newValue.map { HomeOrigin($0) } }
    }

    /// The same as ``homeOrigin``, without creating a `HomeOrigin`.
    var sharedHomeOrigin: HomeOrigin? {
        get { self[option: HomeOriginOption.self] }
        set { self[option: HomeOriginOption.self] = newValue }
    }
}

/// The environment of one request, which replaces the client's entirely.
enum ServerEnvironmentOption: HTTPRequestOption {
    static let defaultOptionValue: ServerEnvironment? = nil
}

extension HTTPRequest {
    /// The environment of the request, which replaces the client's entirely. Default: not set (the environment of the
    /// client applies). If it is set to nil, no environment is applied.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironmentOption.self] }
        set { self[option: ServerEnvironmentOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/serverEnvironment``.
    public var serverEnvironment: ServerEnvironment? {
        get { self[ServerEnvironmentOption.self] }
        set { self[ServerEnvironmentOption.self] = newValue }
    }
}

/// The environment that a client will apply to a request. Descriptions of the request use it until it is applied.
///
/// This type is a class because the link that resolves the environment shares it with the links above.
final class ClientEnvironment: Sendable {
    private let state: Mutex<ServerEnvironment?>

    /// - Parameter environment: the environment; nil if it is resolved while the request is loaded.
    init(_ environment: ServerEnvironment?) { state = Mutex(environment) }

    /// The environment; nil if it has not been resolved.
    var environment: ServerEnvironment? { state.withLock { $0 } }

    func resolve(_ environment: ServerEnvironment) { state.withLock { $0 = environment } }
}

enum ClientEnvironmentOption: HTTPRequestOption {
    static let defaultOptionValue: ClientEnvironment? = nil
}

extension HTTPRequest {
    /// Sets the environment of a client for descriptions of the request, unless the request has a host.
    mutating func place(in environment: ClientEnvironment) {
        if host == nil { self[option: ClientEnvironmentOption.self] = environment }
    }

    /// Stores the client's environment, so that the links above can show it.
    func resolve(_ environment: ServerEnvironment) {
        guard options.contains(ClientEnvironmentOption.self) else { return }
        self[option: ClientEnvironmentOption.self]?.resolve(environment)
    }

    /// Whether the URL lacks the client's environment because it has not been resolved.
    var lacksEnvironment: Bool {
        guard host == nil, !options.contains(ServerEnvironmentOption.self),
            let client = self[option: ClientEnvironmentOption.self]
        else { return false }
        return client.environment == nil
    }

    /// The request with the method and the URL that it will have in its environment, for descriptions.
    ///
    /// The links above ``ApplyEnvironment`` receive requests without a host.
    var shown: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        var shown = self
        shown.body = EmptyBody()
        environment.apply(to: &shown)
        return shown
    }

    /// The request with its body, and with the method, the URL and the headers of its environment.
    var completed: HTTPRequest {
        guard let environment = missingEnvironment else { return self }
        var completed = self
        environment.apply(to: &completed)
        return completed
    }

    /// The environment that has not been applied yet.
    private var missingEnvironment: ServerEnvironment? {
        guard host == nil else { return nil }
        let isSet = options.contains(ServerEnvironmentOption.self)
        return isSet ? serverEnvironment : self[option: ClientEnvironmentOption.self]?.environment
    }
}
