/// What a client provides for its requests. Its identity is that of the client.
final class ClientDefaults: Sendable {
    /// The options of requests that do not set them.
    let options: HTTPRequestOptions

    init(_ options: HTTPRequestOptions) { self.options = options }
}
