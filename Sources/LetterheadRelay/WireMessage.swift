// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// One message between the two ends of a relay: a JSON object on one line, a line feed, and the bytes of a body.
struct WireMessage: Codable, Sendable {
    var letterhead = 1
    var request: Request?
    var response: Response?
    var failure: Failure?
    var cancel: String?
    /// Whether to reset the chain at the other end.
    var reset: Bool?
    /// Whether the pieces of the body follow, each in a message.
    var streams: Bool?
    var end: End?
    /// The number of bytes after the head, or the length of a streamed body, if it is known.
    var length: Int?

    struct Target: Codable, Equatable {
        var scheme, host: String?
        var port: Int?
        var path, query: String
    }

    struct Request: Codable {
        var id, method: String?
        var target: Target
        var headers: [[String]]
        var settings = Settings()
        var options: [String: JSONValue]?
    }

    /// The settings that apply to the exchange with the server. All times are in milliseconds.
    struct Settings: Codable {
        var timeout, idleTimeout, connectTimeout, deadline, responseLimit: Int?
        var acceptedStatuses: [[Int]]?
        var isSecret, isSignedOnce: Bool?
        var route: String?
        /// The names that are redacted in addition to the standard ones, and the values.
        var secretHeaders, secretParameters, secretValues: [String]?
        /// The headers that a redirect to a different origin has removed, or nil if no redirect was followed.
        var removedHeaders: [String]?
        /// The headers that are sent to one origin only, by name, each with this origin.
        var boundHeaders: [[String]]?
    }

    struct Response: Codable {
        var status: Int
        var headers: [[String]]
        var trailers: [[String]]?
        /// The secret headers that were left out, by name.
        var headersLeftOut: [String]?
        /// Where the request was sent, if it differs from its target.
        var sentTo: Target?
        var respondingServer: String?
    }

    /// The end of a streamed body, with its total length.
    struct End: Codable {
        var count: Int
        var trailers: [[String]]
    }

    struct Failure: Codable {
        var code, message: String
        var mayHaveBeenSent: Bool
    }

    /// Why bytes from the other end aren't a message.
    struct Malformed: Error, SafelyDescribed {
        let description: String

        init(_ description: String) { self.description = description }
    }

    static let headLimit = 1 << 20
}

extension WireMessage {
    func data(with body: Data? = nil) -> Data {
        var message = self
        if let body { message.length = body.count }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and Booleans can always be encoded. The other end would refuse anything else as malformed.
        var data = (try? encoder.encode(message)) ?? Data()
        data.append(UInt8(ascii: "\n"))
        if let body { data.append(body) }
        return data
    }

    static func read(_ data: Data) throws(Malformed) -> (message: WireMessage, body: Data) {
        guard let end = data.prefix(headLimit + 1).firstIndex(of: UInt8(ascii: "\n")) else {
            throw Malformed("its first \(headLimit) bytes contain no line feed")
        }
        let message: WireMessage
        do {
            message = try JSONDecoder().value(of: WireMessage.self, from: Data(data[..<end]))
        } catch {
            throw Malformed("the head cannot be read: \(HTTPError.summary(of: error))")
        }
        guard message.letterhead == 1 else { throw Malformed("version \(message.letterhead) is not supported") }
        let body = Data(data[(end + 1)...])
        let length = message.streams == true ? 0 : message.length ?? 0
        guard body.count == length else { throw Malformed("the body has \(body.count) bytes instead of \(length)") }
        return (message, body)
    }
}

extension WireMessage.Target {
    /// Creates the target of a request.
    ///
    /// - Parameter query: the part of the query that is sent.
    init(_ request: HTTPRequest, query: QueryParameters) {
        scheme = request.hasScheme ? request.scheme : nil
        (host, port, path) = (request.host, request.port, request.path.string)
        self.query = query.escaped
    }

    func write(to request: inout HTTPRequest, route: String? = nil) throws(WireMessage.Malformed) {
        guard !path.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw WireMessage.Malformed("the path contains ? or #")
        }
        guard ASCII.isToken(scheme ?? "https"), host.map(HTTPRequest.isHost) ?? true else {
            throw WireMessage.Malformed("the scheme or the host contains a character that is not allowed")
        }
        if let scheme { request.scheme = scheme }
        (request.host, request.port) = (host, port)
        request.path = RequestPath(escaped: path, route: route)
        let secret = request.query.filter(\.isSecret).map(\.name)
        let items = QueryParameters(escaped: query)
        request.query = QueryParameters(
            items.map { item in
                secret.contains { $0.isSame(as: item.name) } ? .init(item.name, item.value, isSecret: true) : item
            })
    }
}

extension HTTPHeaders.Name {
    static func list(_ names: [String]?) throws(WireMessage.Malformed) -> [HTTPHeaders.Name] {
        guard names?.allSatisfy({ ASCII.isToken($0) }) ?? true else {
            throw WireMessage.Malformed("the name of a header is not a token")
        }
        return (names ?? []).map { HTTPHeaders.Name($0) }
    }
}

extension HTTPOrigin {
    init(written text: String) throws(WireMessage.Malformed) {
        guard let origin = try? HTTPRequest(text).origin else { throw WireMessage.Malformed("an origin is not a URL") }
        self = origin
    }
}

extension HTTPHeaders {
    var pairs: [[String]] { map { [$0.name.rawValue, $0.value] } }

    /// Creates headers from pairs of a name and a value.
    ///
    /// - Parameter ofResponse: whether a value may contain all bytes that a transport accepts in a response. Default:
    ///   false.
    init(pairs: [[String]], ofResponse: Bool = false) throws(WireMessage.Malformed) {
        let areFields = pairs.allSatisfy { pair in
            guard pair.count == 2, ASCII.isToken(pair[0]) else { return false }
            return ofResponse
                ? ASCII.allBytes(of: pair[1]) { $0 != 0 && $0 != 0x0A && $0 != 0x0D } : ASCII.isFieldValue(pair[1])
        }
        guard areFields else { throw WireMessage.Malformed("a header is not a name and a value") }
        self.init(pairs.map { Field(Name($0[0]), $0[1]) })
    }
}
