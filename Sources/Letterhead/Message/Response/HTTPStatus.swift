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
    public static let `continue` = HTTPStatus(100)
    public static let switchingProtocols = HTTPStatus(101)
    public static let processing = HTTPStatus(102)
    public static let earlyHints = HTTPStatus(103)
    public static let ok = HTTPStatus(200)
    public static let created = HTTPStatus(201)
    public static let accepted = HTTPStatus(202)
    public static let nonAuthoritativeInformation = HTTPStatus(203)
    public static let noContent = HTTPStatus(204)
    public static let resetContent = HTTPStatus(205)
    public static let partialContent = HTTPStatus(206)
    public static let multiStatus = HTTPStatus(207)
    public static let alreadyReported = HTTPStatus(208)
    public static let imUsed = HTTPStatus(226)
    public static let multipleChoices = HTTPStatus(300)
    public static let movedPermanently = HTTPStatus(301)
    public static let found = HTTPStatus(302)
    public static let seeOther = HTTPStatus(303)
    public static let notModified = HTTPStatus(304)
    public static let useProxy = HTTPStatus(305)
    public static let temporaryRedirect = HTTPStatus(307)
    public static let permanentRedirect = HTTPStatus(308)
    public static let badRequest = HTTPStatus(400)
    public static let unauthorized = HTTPStatus(401)
    public static let paymentRequired = HTTPStatus(402)
    public static let forbidden = HTTPStatus(403)
    public static let notFound = HTTPStatus(404)
    public static let methodNotAllowed = HTTPStatus(405)
    public static let notAcceptable = HTTPStatus(406)
    public static let proxyAuthenticationRequired = HTTPStatus(407)
    public static let requestTimeout = HTTPStatus(408)
    public static let conflict = HTTPStatus(409)
    public static let gone = HTTPStatus(410)
    public static let lengthRequired = HTTPStatus(411)
    public static let preconditionFailed = HTTPStatus(412)
    public static let contentTooLarge = HTTPStatus(413)
    public static let uriTooLong = HTTPStatus(414)
    public static let unsupportedMediaType = HTTPStatus(415)
    public static let rangeNotSatisfiable = HTTPStatus(416)
    public static let expectationFailed = HTTPStatus(417)
    public static let misdirectedRequest = HTTPStatus(421)
    public static let unprocessableContent = HTTPStatus(422)
    public static let locked = HTTPStatus(423)
    public static let failedDependency = HTTPStatus(424)
    public static let tooEarly = HTTPStatus(425)
    public static let upgradeRequired = HTTPStatus(426)
    public static let preconditionRequired = HTTPStatus(428)
    public static let tooManyRequests = HTTPStatus(429)
    public static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    public static let unavailableForLegalReasons = HTTPStatus(451)
    public static let internalServerError = HTTPStatus(500)
    public static let notImplemented = HTTPStatus(501)
    public static let badGateway = HTTPStatus(502)
    public static let serviceUnavailable = HTTPStatus(503)
    public static let gatewayTimeout = HTTPStatus(504)
    public static let httpVersionNotSupported = HTTPStatus(505)
    public static let variantAlsoNegotiates = HTTPStatus(506)
    public static let insufficientStorage = HTTPStatus(507)
    public static let loopDetected = HTTPStatus(508)
    public static let networkAuthenticationRequired = HTTPStatus(511)
    /// The status of an overloaded server. The code isn't registered, but several APIs use it.
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
