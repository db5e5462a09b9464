// SPDX-License-Identifier: MIT
import Letterhead

/// Identifies a circuit or a route with measured response times. The parts that don't distinguish it are empty.
struct RouteKey: Hashable, Sendable, CustomStringConvertible {
    var origin: HTTPOrigin?
    var method = ""
    /// A route, a host or a name.
    var name = ""

    static func route(of request: HTTPRequest) -> RouteKey {
        RouteKey(origin: request.origin, method: request.method.rawValue, name: request.path.route ?? "")
    }

    /// Hashes only the parts that differ between most keys, because hashing one string takes as long as the rest of a
    /// lookup.
    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(origin?.host ?? "")
        hasher.combine(origin?.port ?? 0)
    }

    var description: String {
        let place = origin.map { "\($0)" } ?? ""
        return [method, place, name].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
