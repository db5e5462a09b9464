// SPDX-License-Identifier: MIT
import Letterhead

/// The headers with different values in each run: traces, request identifiers, and idempotency keys. A cassette doesn't
/// compare them, and a snapshot doesn't contain their values.
enum VolatileHeaders {
    private static let names: Set<HTTPHeaders.Name> = [
        .idempotencyKey, "X-Idempotency-Key", "traceparent", "tracestate", "baggage", "b3", "X-Request-ID",
        "X-Correlation-ID", "X-Trace-ID", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
    ]

    static func contain(_ name: HTTPHeaders.Name) -> Bool {
        names.contains(name) || ASCII.lowercased(name.rawValue).begins(with: "x-b3-")
    }
}
