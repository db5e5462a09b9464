import Synchronization

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
        get { context.homeOrigin }
        set { context.homeOrigin = newValue }
    }
}

enum ServerEnvironmentOption: HTTPRequestOption {
    static let defaultOptionValue: ServerEnvironment? = nil
}

extension RequestSettings {
    /// The environment of the request, which replaces the client's entirely. Default: not set (the environment of the
    /// client applies). If it is set to nil, no environment is applied.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironmentOption.self] }
        set { self[option: ServerEnvironmentOption.self] = newValue }
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

    /// Whether the environment has not been resolved yet.
    var isUnknown: Bool { environment == nil }

    func resolve(_ environment: ServerEnvironment) { state.withLock { $0 = environment } }
}

extension HTTPRequest {
    /// Whether the URL lacks the client's environment because it has not been resolved.
    var lacksEnvironment: Bool {
        guard host == nil, !options.contains(ServerEnvironmentOption.self),
            let environment = context.environment
        else { return false }
        return environment.isUnknown
    }

    /// The request with the method and the URL that it will have in its environment, for descriptions.
    ///
    /// The links above ``ApplyEnvironment`` receive requests without a host.
    var inItsEnvironment: HTTPRequest {
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
        return isSet ? serverEnvironment : context.environment?.environment
    }
}
