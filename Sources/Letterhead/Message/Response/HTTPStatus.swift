// SPDX-License-Identifier: MIT
/// A response status (RFC 9110, 15), such as 200 or 404.
///
/// Any number is allowed as a status code. The first digit of a code from 100 to 599 determines its class. Other codes
/// have no class.
public struct HTTPStatus: Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The status code. It has three digits in a well-formed response.
    public let code: Int

    /// Creates a status from any number, registered or not.
    public init(_ code: Int) { self.code = code }

    public init(integerLiteral value: Int) { code = value }

    /// Whether the response is interim: 100 to 199.
    public var isInformational: Bool { (100...199).contains(code) }
    /// Whether the request was received, understood and accepted: 200 to 299.
    public var isSuccess: Bool { (200...299).contains(code) }
    /// Whether the client must do more to complete the request: 300 to 399.
    public var isRedirection: Bool { (300...399).contains(code) }
    /// Whether the request is at fault, such as a wrong URL or missing credentials: 400 to 499.
    public var isClientError: Bool { (400...499).contains(code) }
    /// Whether the server failed to process a request that may be valid: 500 to 599.
    public var isServerError: Bool { (500...599).contains(code) }

    /// The registered phrase, such as `Not Found`, or empty for an unregistered code.
    public var reasonPhrase: String { Self.phrases[code] ?? "" }

    public var description: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }

    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool { left.code < right.code }
}

/// A set of statuses that count as success.
///
/// Set it as ``RequestTemplate/acceptedStatuses``. The default is ``success``, and `304 Not Modified` if the request is
/// conditional (RFC 9110, 13). Combine sets with ``union(_:)``, or list statuses: `[200, 404]`.
public struct HTTPStatusSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The ranges of codes, ascending and not adjacent, so that sets with the same statuses are equal.
    public let ranges: [ClosedRange<Int>]

    /// Accepts all codes in a range: `HTTPStatusSet(200...299)`.
    public init(_ codes: ClosedRange<Int>) { ranges = [codes] }

    public init(arrayLiteral elements: HTTPStatus...) { self.init(elements.map { $0.code...$0.code }) }

    /// 200 to 299.
    public static let success = HTTPStatusSet(200...299)

    /// All statuses. With this set, no status is an error.
    public static let any = HTTPStatusSet(0...Int.max)

    /// Returns whether a status counts as success.
    public func contains(_ status: HTTPStatus) -> Bool { ranges.contains { $0.contains(status.code) } }

    /// Returns the statuses of both sets.
    public func union(_ other: HTTPStatusSet) -> HTTPStatusSet {
        HTTPStatusSet(ranges + other.ranges)
    }

    /// Creates a set from ranges in any order.
    public init(_ ranges: [ClosedRange<Int>]) {
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            if let last = merged.last, range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}

extension HTTPStatus {
    /// 100: the server has received the request head and waits for the body.
    public static let `continue` = HTTPStatus(100)
    /// 101: the server uses the protocol that the request named in `Upgrade` from now on.
    public static let switchingProtocols = HTTPStatus(101)
    /// 102: the server has accepted the request but hasn't completed it (RFC 2518, 10.1).
    public static let processing = HTTPStatus(102)
    /// 103: an interim response with headers that the final response will probably have (RFC 8297).
    public static let earlyHints = HTTPStatus(103)
    /// 200: the request succeeded, and the body is its result.
    public static let ok = HTTPStatus(200)
    /// 201: the request created a resource. Its URL is in ``HTTPResponse/location``.
    public static let created = HTTPStatus(201)
    /// 202: the server will process the request later, and it may still fail.
    public static let accepted = HTTPStatus(202)
    /// 203: the request succeeded, and a proxy has changed the response of the server.
    public static let nonAuthoritativeInformation = HTTPStatus(203)
    /// 204: the request succeeded, and the response has no body.
    public static let noContent = HTTPStatus(204)
    /// 205: the request succeeded, and the client should clear the form that it sent.
    public static let resetContent = HTTPStatus(205)
    /// 206: the body is the part that the request named in `Range`.
    public static let partialContent = HTTPStatus(206)
    /// 207: the body has a separate status for each resource (RFC 4918, 11.1).
    public static let multiStatus = HTTPStatus(207)
    /// 208: an earlier part of the same response already describes the resource (RFC 5842, 7.1).
    public static let alreadyReported = HTTPStatus(208)
    /// 226: the body is the result of an operation, such as a difference, on the resource (RFC 3229, 10.4.1).
    public static let imUsed = HTTPStatus(226)
    /// 300: the resource has several representations, and the client chooses one.
    public static let multipleChoices = HTTPStatus(300)
    /// 301: the resource has a new URL. A redirected POST usually becomes a GET.
    public static let movedPermanently = HTTPStatus(301)
    /// 302: the resource temporarily has a different URL. A redirected POST usually becomes a GET.
    public static let found = HTTPStatus(302)
    /// 303: the result is at a different URL, which is requested with GET.
    public static let seeOther = HTTPStatus(303)
    /// 304: the representation that the client has is current, and the response has no body.
    public static let notModified = HTTPStatus(304)
    /// 305: deprecated, because a server must not choose the proxy.
    public static let useProxy = HTTPStatus(305)
    /// 307: the resource temporarily has a different URL. The method stays the same.
    public static let temporaryRedirect = HTTPStatus(307)
    /// 308: the resource has a new URL. The method stays the same.
    public static let permanentRedirect = HTTPStatus(308)
    /// 400: the request is malformed or invalid.
    public static let badRequest = HTTPStatus(400)
    /// 401: the request has no valid credentials. ``HTTPResponse/challenges`` names what the server accepts.
    public static let unauthorized = HTTPStatus(401)
    /// 402: reserved. Some APIs send it if an account must be paid for.
    public static let paymentRequired = HTTPStatus(402)
    /// 403: the server refuses the request, for example because the user lacks a permission.
    public static let forbidden = HTTPStatus(403)
    /// 404: the server has no resource at this URL, or doesn't reveal it to this user.
    public static let notFound = HTTPStatus(404)
    /// 405: the resource doesn't support the method. `Allow` lists the methods that it supports.
    public static let methodNotAllowed = HTTPStatus(405)
    /// 406: the resource has no representation that `Accept` and the related headers permit.
    public static let notAcceptable = HTTPStatus(406)
    /// 407: the proxy requires credentials.
    public static let proxyAuthenticationRequired = HTTPStatus(407)
    /// 408: the server didn't receive the whole request in the time that it waits.
    public static let requestTimeout = HTTPStatus(408)
    /// 409: the request contradicts the current state of the resource.
    public static let conflict = HTTPStatus(409)
    /// 410: the resource existed and was removed for good.
    public static let gone = HTTPStatus(410)
    /// 411: the server requires a `Content-Length`.
    public static let lengthRequired = HTTPStatus(411)
    /// 412: a condition of the request, such as `If-Match`, isn't met.
    public static let preconditionFailed = HTTPStatus(412)
    /// 413: the request body is larger than the server accepts.
    public static let contentTooLarge = HTTPStatus(413)
    /// 414: the URL is longer than the server accepts.
    public static let uriTooLong = HTTPStatus(414)
    /// 415: the server doesn't support the media type or the coding of the request body.
    public static let unsupportedMediaType = HTTPStatus(415)
    /// 416: the representation doesn't contain the range that the request named in `Range`.
    public static let rangeNotSatisfiable = HTTPStatus(416)
    /// 417: the server can't meet the `Expect` of the request.
    public static let expectationFailed = HTTPStatus(417)
    /// 421: this server doesn't respond for the host of the request.
    public static let misdirectedRequest = HTTPStatus(421)
    /// 422: the request body is well formed, but its content is invalid.
    public static let unprocessableContent = HTTPStatus(422)
    /// 423: the resource is locked (RFC 4918, 11.3).
    public static let locked = HTTPStatus(423)
    /// 424: the request depends on a different one, which has failed (RFC 4918, 11.4).
    public static let failedDependency = HTTPStatus(424)
    /// 425: the request came before the TLS handshake was complete, and could be a replay (RFC 8470, 5.2).
    public static let tooEarly = HTTPStatus(425)
    /// 426: the server requires a protocol that it names in `Upgrade`.
    public static let upgradeRequired = HTTPStatus(426)
    /// 428: the server requires a condition such as `If-Match` (RFC 6585, 3).
    public static let preconditionRequired = HTTPStatus(428)
    /// 429: the client has exceeded a rate limit (RFC 6585, 4). See ``HTTPHeaders/retryAfter(now:)``.
    public static let tooManyRequests = HTTPStatus(429)
    /// 431: the request headers are larger than the server accepts (RFC 6585, 5).
    public static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    /// 451: the resource must not be delivered for legal reasons (RFC 7725).
    public static let unavailableForLegalReasons = HTTPStatus(451)
    /// 500: the server failed for an unexpected reason.
    public static let internalServerError = HTTPStatus(500)
    /// 501: the server doesn't support the method for any resource.
    public static let notImplemented = HTTPStatus(501)
    /// 502: a proxy or gateway received an invalid response from the server that it asked.
    public static let badGateway = HTTPStatus(502)
    /// 503: the server is overloaded or in maintenance. It may send `Retry-After`.
    public static let serviceUnavailable = HTTPStatus(503)
    /// 504: a proxy or gateway received no response from the server that it asked.
    public static let gatewayTimeout = HTTPStatus(504)
    /// 505: the server doesn't support the version of HTTP.
    public static let httpVersionNotSupported = HTTPStatus(505)
    /// 506: the server is misconfigured: the chosen variant negotiates itself (RFC 2295, 8.1).
    public static let variantAlsoNegotiates = HTTPStatus(506)
    /// 507: the server has no space to store what the request needs (RFC 4918, 11.5).
    public static let insufficientStorage = HTTPStatus(507)
    /// 508: the server found an infinite loop while it processed the request (RFC 5842, 7.2).
    public static let loopDetected = HTTPStatus(508)
    /// 511: the network requires a login before it gives access (RFC 6585, 6).
    public static let networkAuthenticationRequired = HTTPStatus(511)
    /// 529: the server is overloaded. The code isn't registered, but several APIs use it.
    public static let overloaded = HTTPStatus(529)
}

extension HTTPStatus {
    static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created",
        202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 305: "Use Proxy",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency",
        425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 506: "Variant Also Negotiates", 507: "Insufficient Storage",
        508: "Loop Detected", 511: "Network Authentication Required",
    ]
}
