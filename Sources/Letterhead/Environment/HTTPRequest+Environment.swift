/// The origin of the client's own environment, which a request keeps while it travels to an authentication.
enum HomeOriginOption: HTTPRequestOption {
    /// The client has no environment, or none that is known for this request.
    static let defaultOptionValue: HomeOrigin? = nil
}

/// An origin that an option holds. A class, so that no request allocates memory for it.
final class HomeOrigin: Sendable {
    let origin: HTTPOrigin

    init(_ origin: HTTPOrigin) { self.origin = origin }
}

extension HTTPRequest {
    /// The origin of the client's own environment, whatever environment the request itself brings.
    ///
    /// Credentials of the client that name no origins go to this one only. Nil: they go nowhere.
    var homeOrigin: HomeOrigin? {
        get { self[option: HomeOriginOption.self] }
        set { self[option: HomeOriginOption.self] = newValue }
    }
}

/// The environment of one request, which replaces the client's whole.
enum ServerEnvironmentOption: HTTPRequestOption {
    /// None of its own.
    static let defaultOptionValue: ServerEnvironment? = nil
}

extension HTTPRequest {
    /// The request's own environment; it replaces the client's whole. Default: nil, the client's.
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

/// The environment that a client will apply to a request, for texts that are made before.
///
/// A class, so that a request carries no more than a reference to it.
final class ClientEnvironment: Sendable {
    let environment: ServerEnvironment

    init(_ environment: ServerEnvironment) { self.environment = environment }
}

enum ClientEnvironmentOption: HTTPRequestOption {
    static let defaultOptionValue: ClientEnvironment? = nil
}

extension HTTPRequest {
    /// The request, which its texts show in the environment of a client.
    func placed(in environment: ClientEnvironment?) -> HTTPRequest {
        guard let environment, host == nil else { return self }
        var placed = self
        placed[option: ClientEnvironmentOption.self] = environment
        return placed
    }

    /// The request with the method and the URL that it will have in its environment, as texts show it.
    ///
    /// The links above ``ApplyEnvironment`` see requests without a host.
    var shown: HTTPRequest {
        guard host == nil else { return self }
        let isSet = options.contains(ServerEnvironmentOption.self)
        let environment = isSet ? serverEnvironment : self[option: ClientEnvironmentOption.self]?.environment
        guard let environment else { return self }
        var shown = self
        shown.body = EmptyBody()
        environment.apply(to: &shown)
        return shown
    }
}
