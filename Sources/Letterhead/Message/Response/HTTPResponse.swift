import Foundation

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

/// How much of an unwelcome response's body an error keeps.
private let keptBytes = 1 << 20

extension HTTPResponse {
    /// The response as an error carries it: its body in memory, and at most 1 MiB of it.
    func keptInMemory() async -> HTTPResponse {
        var response = self
        response.body = HTTPResponseBody(await body.beginning(upTo: keptBytes))
        return response
    }

    /// The response, with the beginning of its body in memory where it is a stream, so that it holds no connection.
    func withoutStream() async -> HTTPResponse { body.buffered == nil ? await keptInMemory() : self }
}

extension HTTPResponseBody {
    /// The first bytes, as far as they can be had: a body that breaks off does not hide the status.
    fileprivate func beginning(upTo limit: Int) async -> Data {
        // A copy of the beginning, because a slice would keep the whole.
        if let buffered { return buffered.count > limit ? Data(buffered.prefix(limit)) : buffered }
        var data = Data()
        var chunks = makeAsyncIterator()
        while data.count < limit, let chunk = try? await chunks.next() { data += chunk }
        return data.count > limit ? Data(data.prefix(limit)) : data
    }
}

/// The values of a response, by type. The first has a place of its own: most responses have one, the transport's, and
/// no table then.
struct HTTPResponseValues: Sendable {
    private var firstKey: ObjectIdentifier?
    private var first: any Sendable = ()
    private var others: [ObjectIdentifier: any Sendable] = [:]

    subscript<Key: HTTPRequestOption>(_ key: Key.Type) -> Key.Value {
        get {
            let key = ObjectIdentifier(key)
            let stored = firstKey == key ? first : others[key]
            return (stored as? Stored<Key.Value>)?.value ?? Key.defaultOptionValue
        }
        set {
            let key = ObjectIdentifier(key)
            if firstKey == nil || firstKey == key {
                (firstKey, first) = (key, Stored(value: newValue))
            } else {
                others[key] = Stored(value: newValue)
            }
        }
    }

    /// The box keeps an explicit nil apart from nothing.
    private struct Stored<Value: Sendable>: Sendable {
        let value: Value
    }
}
