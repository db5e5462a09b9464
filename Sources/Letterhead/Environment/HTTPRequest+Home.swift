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
