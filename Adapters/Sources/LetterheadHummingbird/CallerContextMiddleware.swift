// SPDX-License-Identifier: MIT
public import Hummingbird
public import Letterhead
import LetterheadHTTPTypes
public import LetterheadResilience

/// Reads the time limit, the trace and the priority of each request, for the requests that its handler sends.
///
/// ```swift
/// router.add(middleware: CallerContextMiddleware(timeLeft: "X-Request-Timeout", limit: .seconds(30)))
/// ```
///
/// The client needs a ``CallerContextLink`` for the time and the priority, and a `TraceContextPropagation` for the
/// trace. What a caller sends is not trusted:
///
/// - The time is at most the limit. If the field is malformed or missing, the time is the limit.
/// - A malformed `traceparent`, `tracestate` or `baggage` is ignored. With the `TracingMiddleware` of Hummingbird and a
///   `TracingLink`, the tracer reads and sends the trace instead.
/// - From `Priority` (RFC 9218), only `u` from 0 to 7 and `i` are read. A malformed field is ignored.
///
/// When a caller disconnects, Hummingbird doesn't cancel the handler. The limit therefore also ends the requests of
/// such handlers.
public struct CallerContextMiddleware<Context: RequestContext>: RouterMiddleware {
    private let timeLeft: HTTPHeaders.Name?
    private let form: DeadlinePropagation.Form
    private let limit: Duration

    /// Creates a middleware.
    ///
    /// - Parameters:
    ///   - timeLeft: the field with the time that the caller waits, as `DeadlinePropagation` sends it. Default: nil
    ///     (each caller has the limit).
    ///   - form: the format of the field.
    ///   - limit: the longest time for the requests of a handler, including the bodies that it streams.
    public init(
        timeLeft: HTTPHeaders.Name? = nil, as form: DeadlinePropagation.Form = .milliseconds,
        limit: Duration = .seconds(60)
    ) {
        (self.timeLeft, self.form, self.limit) = (timeLeft, form, limit)
    }

    /// Calls the next handler with ``CallerContext/current`` and `TraceContext.current` set from the request.
    @concurrent
    public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let fields = HTTPHeaders(request.headers)
        let asked = timeLeft.flatMap { fields[$0] }.flatMap(form.duration)
        let caller = CallerContext(
            deadline: .now + min(asked ?? limit, limit),
            priority: fields["Priority"].flatMap(CallerContext.priority))
        let trace = fields["traceparent"].flatMap {
            TraceContext(traceparent: $0, tracestate: fields["tracestate"], baggage: fields["baggage"])
        }
        return try await CallerContext.$current.withValue(caller) {
            try await TraceContext.$current.withValue(trace ?? TraceContext.current) {
                try await next(request, context)
            }
        }
    }
}

extension CallerContext {
    /// Reads the parameters of RFC 9218, 4, and writes them in one spelling. Returns nil if none is valid, or if the
    /// field contains anything other than plain members.
    static func priority(_ field: String) -> String? {
        guard field.utf8.count <= 256 else { return nil }
        var values: [Substring: Substring] = [:]
        for member in field.split(separator: ",", omittingEmptySubsequences: false) {
            let match = member.wholeMatch(of: /[ \t]*([a-z*][-a-z0-9_.*]*)(?:=([-a-z0-9?*_.]+))?[ \t]*/)
            guard let match else { return nil }
            values[match.1] = match.2 ?? "?1"
        }
        let urgency = values["u"].flatMap { $0.count == 1 && "0"..."7" ~= $0 ? "u=\($0)" : nil }
        let members = [urgency, values["i"] == "?1" ? "i" : nil].compactMap(\.self)
        return members.isEmpty ? nil : members.joined(separator: ", ")
    }
}

extension DeadlinePropagation.Form {
    /// Reads a time in the format in which the link sends it. Returns nil if it is malformed, has a sign, or has too
    /// many digits.
    func duration(_ text: String) -> Duration? {
        func number(_ digits: some StringProtocol, _ limit: Int) -> Int64? {
            let isNumber = digits.utf8.allSatisfy { (48...57).contains($0) } && digits.utf8.count <= limit
            return isNumber ? Int64(digits) : nil
        }
        switch self {
        case .milliseconds: return number(text, 15).map { .milliseconds($0) }
        case .seconds:
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            let areNumbers = parts.allSatisfy { number($0, 12) != nil }
            return areNumbers ? Double(text).map { .seconds($0) } : nil
        case .grpc:
            guard let count = number(text.dropLast(), 8) else { return nil }
            return switch text.last {
            case "H": .seconds(count * 3_600)
            case "M": .seconds(count * 60)
            case "S": .seconds(count)
            case "m": .milliseconds(count)
            case "u": .microseconds(count)
            case "n": .nanoseconds(count)
            default: nil
            }
        }
    }
}
