// SPDX-License-Identifier: MIT
public import Letterhead

extension Balance {
    /// How ``Balance`` chooses among the replicas that are left for a request.
    public struct Policy: Sendable, CustomStringConvertible {
        enum Kind: Sendable {
            case roundRobin, lessBusyOfTwo, ordered, weighted
            case sticky(@Sendable (HTTPRequest) -> String)
        }

        let kind: Kind
        /// The name of the policy.
        public let description: String

        /// One after the other.
        public static let roundRobin = Policy(kind: .roundRobin, description: "roundRobin")

        /// The one of two random replicas with fewer requests in progress. Slow replicas receive fewer requests, so this is
        /// the best choice for most fleets.
        public static let lessBusyOfTwo = Policy(kind: .lessBusyOfTwo, description: "lessBusyOfTwo")

        /// The first in the list, as long as it is well: for a server with standbys.
        public static let ordered = Policy(kind: .ordered, description: "ordered")

        /// At random, in proportion to ``Replica/weight``.
        public static let weighted = Policy(kind: .weighted, description: "weighted")

        /// The same replica for all requests with the same key, such as a tenant, as long as it is well. If a replica fails
        /// or the list changes, only the keys of that replica move.
        public static func sticky(_ key: @escaping @Sendable (HTTPRequest) -> String) -> Policy {
            Policy(kind: .sticky(key), description: "sticky")
        }
    }
}
