import Foundation

/// A stored response without its body, and the facts about the exchange that determine its age (RFC 9111, 4.2.3).
struct CachedHead: Equatable, Sendable {
    var status: Int
    /// The header fields without those that belong to the connection (RFC 9111, 3.1).
    var headers: HTTPHeaders
    /// The time at which the request was sent, in seconds since 1970.
    var requestTime: Int64
    /// The time at which the response was received, in seconds since 1970.
    var responseTime: Int64
    /// The request fields that `Vary` names, normalized. The value is nil if the request did not have the field.
    var varied: [VariedField] = []

    /// A request field that selects a variant (RFC 9111, 4.1).
    struct VariedField: Hashable, Sendable {
        /// The name in lower case.
        let name: String
        let value: String?

        static func == (left: VariedField, right: VariedField) -> Bool {
            left.name == right.name && left.value.bytes == right.value.bytes
        }

        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    var control: CacheControl { CacheControl(headers) }

    /// The times with which ages and lifetimes can be calculated without an overflow: about 35,000 years around 1970.
    static let times: ClosedRange<Int64> = -1 << 40...1 << 40
}

extension CachedHead {
    init(_ response: HTTPResponse, to request: HTTPRequest, requestTime: Int64, responseTime: Int64) {
        self.init(
            status: response.status.code, headers: Self.storable(response.headers), requestTime: requestTime,
            responseTime: responseTime)
        varied = Vary.fields(Vary.names(in: response.headers) ?? [], of: request)
    }

    /// Returns the fields, except those that belong to one connection and those that `Connection` names.
    static func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let named = Set(ASCII.members(of: headers.values(for: .connection)).map { HTTPHeaders.Name($0) })
        return HTTPHeaders(headers.filter { !connectionFields.contains($0.name) && !named.contains($0.name) })
    }

    private static let connectionFields: Set<HTTPHeaders.Name> = [
        .connection, "Keep-Alive", .proxyAuthenticate, "Proxy-Authentication-Info", .proxyAuthorization,
        "Proxy-Connection", .te, .transferEncoding, .upgrade, .trailer,
    ]

    /// Returns the head after a 304 (RFC 9111, 3.2 and 4.3.4). Fields that describe the stored body are kept.
    func updated(by response: HTTPResponse, requestTime: Int64, responseTime: Int64) -> CachedHead {
        var head = self
        var new = Self.storable(response.headers)
        for name in Self.bodyFields { new[name] = nil }
        // With the `Age` of the old response, the updated response would appear older than it is.
        head.headers[.age] = nil
        if !new.contains(.date) { head.headers[.date] = nil }
        head.headers.replace(with: new)
        (head.requestTime, head.responseTime) = (requestTime, responseTime)
        return head
    }

    private static let bodyFields: [HTTPHeaders.Name] = [.contentEncoding, .contentLength, .contentRange, .contentType]
}

/// The fields of a request that select a variant of a stored response (RFC 9111, 4.1).
enum Vary {
    /// Returns the names of `Vary` in lower case, sorted and without duplicates; nil if the list contains `*` or a
    /// member that is not a name. Such a member counts as `*`, because the field that the server meant is not known.
    static func names(in headers: HTTPHeaders) -> [String]? {
        guard headers.contains(.vary) else { return [] }
        let names = ASCII.members(of: headers.values(for: .vary)).map(ASCII.lowercased)
        return names.allSatisfy { ASCII.isToken($0) } && !names.contains("*") ? Set(names).sorted() : nil
    }

    /// Returns the normalized value of a request field, so that values with the same meaning are equal; nil if the
    /// request does not have the field. The value of a secret field is replaced by a hash, because the result is
    /// stored, and the value of a signature by a hash of its identity.
    static func value(of name: String, in request: HTTPRequest) -> String? {
        let fieldName = HTTPHeaders.Name(name)
        let headers = request.framedHeaders()
        let signature = request.signature.flatMap { $0.headers.contains(fieldName) ? $0.identity : nil }
        guard let value = signature ?? headers[fieldName] else { return nil }
        if signature != nil || fieldName == .cookie
            || headers.contains(where: { $0.name == fieldName && request.isSecret($0) })
        {
            return "#" + SHA256Hash.hash(Array(value.utf8)).map { String($0, radix: 16) }.joined(separator: ".")
        }
        let members = ASCII.members(of: [value])
        guard fieldName == .acceptLanguage else { return members.joined(separator: ",") }
        // The order of languages with the same quality has no meaning, and neither has their case.
        return members.map { ASCII.lowercased($0.split(at: " ").joined()) }.sorted().joined(separator: ",")
    }

    /// Returns the fields of a request that have the given names.
    static func fields(_ names: [String], of request: HTTPRequest) -> [CachedHead.VariedField] {
        names.map { CachedHead.VariedField(name: $0, value: value(of: $0, in: request)) }
    }
}
