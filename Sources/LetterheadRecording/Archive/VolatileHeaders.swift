// SPDX-License-Identifier: MIT
import Letterhead

/// The headers with different values in each run: traces, request identifiers, and idempotency keys. A cassette doesn't
/// compare them, and a snapshot doesn't contain their values.
enum VolatileHeaders {
    static func contain(_ name: HTTPHeaders.Name) -> Bool {
        name.fieldClass == .trace || name == .idempotencyKey || name == "X-Idempotency-Key"
    }
}
