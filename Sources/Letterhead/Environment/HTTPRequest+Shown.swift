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
