/// What a server answered: any status is a response, and an error only at the front door.
public struct HTTPResponse: Sendable {
    private var answered: SharedRequest
    /// How the server answered.
    public var status: HTTPStatus
    /// The headers, in order, repeats kept.
    public var headers: HTTPHeaders
    /// The body; empty when there is none.
    public var body: HTTPResponseBody
    /// Every attempt of the load that led to this response, in order; empty when no link of the chain counts them.
    public var attempts: [HTTPAttempt] = []
    private var values = HTTPResponseValues()

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - request: the request that it answers.
    ///   - status: the status.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: empty.
    public init(
        request: HTTPRequest, status: HTTPStatus, headers: HTTPHeaders = [:],
        body: HTTPResponseBody = HTTPResponseBody()
    ) {
        self.init(answering: SharedRequest(request), status: status, headers: headers, body: body)
    }

    /// Makes a response to a request that is held already.
    init(answering request: SharedRequest, status: HTTPStatus, headers: HTTPHeaders, body: HTTPResponseBody) {
        answered = request
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The request that was answered, as it went out.
    public var request: HTTPRequest {
        get { answered.value }
        set { answered = SharedRequest(newValue) }
    }

    /// A typed value that a loader or a validator left for whoever comes after, its default when there is none.
    public subscript<Key: HTTPRequestOption>(option key: Key.Type) -> Key.Value {
        get { values[key] }
        set { values[key] = newValue }
    }
}

/// A request that several hold: a transport, and the response to it with its copies, of which a chain makes many. A class,
/// so that none of them copies it.
final class SharedRequest: Sendable {
    let value: HTTPRequest

    init(_ value: HTTPRequest) { self.value = value }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status, request line, headers, and the body as far as it has arrived. Secrets are redacted.
    public var description: String {
        let redaction = request.redaction
        var lines = ["\(status) for \(request.method.shown) \(redaction.url(of: request))"]
        if !headers.isEmpty { lines.append(redaction.text(of: headers)) }
        if let data = body.buffered, !data.isEmpty {
            lines += ["", request.isSecret ? Redaction.mark : redaction.text(of: data, headers: headers)]
        }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The redacted text only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}
