// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A position in a distributed trace (W3C Trace Context), and the baggage that travels with it (W3C Baggage).
///
/// In a server, create the context from the headers that a request arrives with. While you handle the request, make it
/// the current context for what you send:
///
/// ```swift
/// let context = TraceContext(traceparent: header, tracestate: state)
/// try await TraceContext.$current.withValue(context) { try await client.send(GetUser(login: "ada")) }
/// ```
///
/// ``TraceContextPropagation`` sends the context.
public struct TraceContext: Hashable, Sendable {
    /// The context for requests from the current task. Default: nil (each load begins a new trace).
    @TaskLocal public static var current: TraceContext?

    /// The trace identifier: 32 hexadecimal digits in lower case, not all zero.
    public let traceID: String
    /// The identifier for the span that sends the request: 16 hexadecimal digits in lower case, not all zero.
    public let spanID: String
    /// Whether the service that sent the headers may have recorded the trace.
    public let isSampled: Bool
    /// The header `tracestate`. Its entries belong to the tracing systems. Default: nil.
    public let state: String?
    /// The baggage entries, unescaped. Every allowed origin receives them, so they must not be secret.
    public let baggage: [String: String]

    /// Creates a context from received headers.
    ///
    /// A `tracestate` that is malformed or longer than 512 characters is left out, and so are malformed baggage
    /// entries, as the specifications require.
    ///
    /// - Returns: nil if `traceparent` is malformed. A load without a context begins a new trace.
    public init?(traceparent: String, tracestate: String? = nil, baggage: String? = nil) {
        let parts = traceparent.split(at: "-", omittingEmpty: false).map(String.init)
        guard parts.count >= 4, Self.isHex(parts[0], 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            Self.isIdentifier(parts[1], 32), Self.isIdentifier(parts[2], 16), Self.isHex(parts[3], 2)
        else { return nil }
        (traceID, spanID) = (parts[1], parts[2])
        isSampled = (UInt8(parts[3], radix: 16) ?? 0) & 1 == 1
        state = tracestate.flatMap { Self.isState($0) ? $0 : nil }
        self.baggage = baggage.map(Self.entries) ?? [:]
    }

    /// Creates a context. Returns nil if an identifier, the state or a name in the baggage is malformed.
    public init?(
        traceID: String, spanID: String, isSampled: Bool = true, state: String? = nil, baggage: [String: String] = [:]
    ) {
        guard Self.isIdentifier(traceID, 32), Self.isIdentifier(spanID, 16), state.map(Self.isState) ?? true,
            baggage.keys.allSatisfy(ASCII.isToken)
        else { return nil }
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
        (self.state, self.baggage) = (state, baggage)
    }

    private init(_ context: TraceContext, spanID: String) {
        (traceID, self.spanID, isSampled) = (context.traceID, spanID, context.isSampled)
        (state, baggage) = (context.state, context.baggage)
    }

    /// The `traceparent` header value.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The `baggage` header value, with escaped entries, sorted by name, or nil without entries. The header has at most
    /// 8,192 bytes and 180 entries. Further entries are left out.
    public var baggageHeader: String? {
        var header = ""
        for (name, value) in baggage.sorted(by: { $0.key < $1.key }).prefix(180) {
            let entry = "\(name)=\(PercentEncoding.escape(value, .unreserved))"
            guard header.utf8.count + entry.utf8.count < 8_192 else { continue }
            header += (header.isEmpty ? "" : ",") + entry
        }
        return header.isEmpty ? nil : header
    }

    func with(spanID: UInt64) -> TraceContext { TraceContext(self, spanID: Self.hex(spanID)) }

    /// Begins a new trace. Zeros are replaced, because identifiers must not be zero.
    static func new(_ random: () -> UInt64) -> TraceContext? {
        let (high, low) = (random(), random())
        return TraceContext(traceID: hex(high == 0 && low == 0 ? 1 : high) + hex(low), spanID: hex(max(random(), 1)))
    }
}

extension TraceContext {
    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    private static func isIdentifier(_ text: String, _ count: Int) -> Bool {
        isHex(text, count) && text.utf8.contains { $0 != UInt8(ascii: "0") }
    }

    /// Returns whether a string is a list of at most 32 entries with printable values (W3C Trace Context, 3.3.1).
    private static func isState(_ text: String) -> Bool {
        let entries = text.split(at: ",")
        guard text.utf8.count <= 512, !entries.isEmpty, entries.count <= 32 else { return false }
        return entries.allSatisfy { entry in
            let bytes = entry.utf8.drop { $0 == 0x20 || $0 == 0x09 }
            let name = bytes.prefix { $0 != UInt8(ascii: "=") }
            let value = bytes.dropFirst(name.count + 1)
            return !name.isEmpty && name.count < bytes.count && name.count <= 256 && value.count <= 256
                && name.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "_-*/@".utf8.contains($0) }
                && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
        }
    }

    private static func entries(_ header: String) -> [String: String] {
        var entries: [String: String] = [:]
        for member in header.split(at: ",").prefix(180) {
            guard let (name, value) = (member.cut(at: ";")?.head ?? member).cut(at: "=").map({ ($0, $1) }),
                ASCII.isToken(ASCII.trimmed(name))
            else { continue }
            entries[ASCII.trimmed(name)] = PercentEncoding.unescape(ASCII.trimmed(value))
        }
        return entries
    }
}

/// Sends the current trace in the headers `traceparent`, `tracestate` and `baggage` (W3C Trace Context, W3C Baggage).
///
/// ```swift
/// HTTPClient(environment: .production, tracing: TraceContextPropagation(allowedOrigins: [ownServer]))
/// ```
///
/// The trace is ``TraceContext/current``. If it is nil, each load begins a new trace. Each attempt and each redirect
/// has a new span identifier. A request that already has a trace isn't changed, whether you or a link has set it: a
/// `traceparent`, or the header of B3, Jaeger, AWS X-Ray or Datadog.
public struct TraceContextPropagation: Sendable {
    private static let traces: [HTTPHeaders.Name] = [
        "traceparent", "b3", "X-B3-TraceId", "uber-trace-id", "X-Amzn-Trace-Id", "x-datadog-trace-id",
    ]

    private let origins: Set<HTTPOrigin>?
    private let random: @Sendable () -> UInt64
    let brokenRule: String?

    /// Creates a propagation that sends the trace to some or to all origins.
    ///
    /// - Parameters:
    ///   - allowedOrigins: the origins that receive the headers, with all replicas of a balanced origin. If a URL has
    ///     no host, each load fails with `.invalidRequest`. Default: nil (every origin).
    ///   - random: returns random numbers for the identifiers. Default: the system random source.
    public init(
        allowedOrigins: [URL]? = nil, random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) {
        let origins = allowedOrigins?.map { HTTPRequest(url: $0).origin }
        self.origins = origins.map { Set($0.compactMap(\.self)) }
        self.random = random
        brokenRule =
            origins?.contains(nil) == true
            ? "an allowed origin of TraceContextPropagation has no host (write it as https://host)" : nil
    }

    var context: TraceContext? { TraceContext.current ?? TraceContext.new(random) }

    /// Adds the headers for one exchange, and returns its context. Returns nil if it adds none: the origin must not
    /// receive them, or the request already has a trace.
    func inject(_ context: TraceContext?, into request: inout HTTPRequest) -> TraceContext? {
        guard let context, let origin = request.logicalOrigin ?? request.origin, origins?.contains(origin) ?? true,
            !Self.traces.contains(where: { request.headers.contains($0) })
        else { return nil }
        let own = context.with(spanID: max(random(), 1))
        request.headers["traceparent"] = own.traceparent
        if let state = own.state { request.headers["tracestate"] = state }
        if let baggage = own.baggageHeader, !request.headers.contains("baggage") {
            request.headers["baggage"] = baggage
        }
        return own
    }
}
