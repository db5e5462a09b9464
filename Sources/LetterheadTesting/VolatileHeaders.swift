// SPDX-License-Identifier: MIT
import Letterhead

/// The headers whose values differ in each run: those of traces, identifiers of requests, and idempotency keys. A cassette
/// does not compare them, and a snapshot does not contain their values.
enum VolatileHeaders {
    private static let names: Set<HTTPHeaders.Name> = [
        .idempotencyKey, "X-Idempotency-Key", "traceparent", "tracestate", "baggage", "b3", "X-Request-ID",
        "X-Correlation-ID", "X-Trace-ID", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
    ]

    static func contain(_ name: HTTPHeaders.Name) -> Bool {
        names.contains(name) || ASCII.lowercased(name.rawValue).begins(with: "x-b3-")
    }
}
