// SPDX-License-Identifier: MIT
public import Letterhead

/// Tells the server how much time is left until a request deadline. The server can then stop work on a response that
/// would come too late.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: DeadlinePropagation("X-Request-Timeout"))
/// try await client.send(GetOrder(id: 7).deadline(in: .seconds(2)))   // X-Request-Timeout: 1998
/// ```
///
/// The header contains the remaining time and not a point in time, so it is correct even if the client and the server
/// have different clocks. Each attempt sends a new value. If a request has no deadline or sets the header itself, it is
/// sent unchanged.
///
/// Put the link into the `attemptLinks`, below the links that may delay a request.
public struct DeadlinePropagation: LoaderLink {
    /// The format in which the header contains the remaining time.
    public enum Form: Sendable, Hashable {
        /// Whole milliseconds: `1998`.
        case milliseconds
        /// Seconds with three digits: `1.998`.
        case seconds
        /// At most eight digits with a unit, as in the gRPC protocol: `1998m`.
        case grpc
    }

    /// Sends the header `grpc-timeout`, which gRPC servers read, in the format ``Form/grpc``.
    public static let grpc = DeadlinePropagation("grpc-timeout", as: .grpc)

    private let name: HTTPHeaders.Name
    private let form: Form

    /// Creates a link that sends the remaining time in a header.
    ///
    /// - Parameters:
    ///   - name: the header name that your server reads.
    ///   - form: the format of the time.
    public init(_ name: HTTPHeaders.Name, as form: Form = .milliseconds) { (self.name, self.form) = (name, form) }

    /// Sends the request with the remaining time in the header.
    ///
    /// - Throws: `.timedOut`, with nothing sent, if the deadline has passed, and errors from the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let left = request.timeLeft, !request.headers.contains(name) else { return try await next.load(request) }
        let (seconds, attoseconds) = min(left, .seconds(1_000_000_000_000)).components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else {
            throw request.deadlinePassed(while: "the request was about to be sent", mayHaveBeenSent: false)
        }
        var request = request
        request.headers[name] = form.text(milliseconds)
        return try await next.load(request)
    }
}

extension DeadlinePropagation: CustomStringConvertible {
    /// The link with its header name: `DeadlinePropagation(X-Request-Timeout)`.
    public var description: String { "DeadlinePropagation(\(name))" }
}

extension DeadlinePropagation.Form {
    fileprivate func text(_ milliseconds: Int64) -> String {
        switch self {
        case .milliseconds: return "\(milliseconds)"
        case .seconds:
            let fraction = "\(milliseconds % 1_000)"
            return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
        case .grpc:
            // The largest number with eight digits. A longer time is written in a larger unit.
            let limit: Int64 = 99_999_999
            if milliseconds <= limit { return "\(milliseconds)m" }
            return milliseconds / 1_000 <= limit
                ? "\(milliseconds / 1_000)S" : "\(min(milliseconds / 3_600_000, limit))H"
        }
    }
}
