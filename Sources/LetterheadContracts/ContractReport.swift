// SPDX-License-Identifier: MIT
import Letterhead

/// Describes what your endpoint types ask for, and what the server responses contain.
///
/// ``Contract`` returns a report on recorded responses, and a ``ContractObserver`` collects one in production. Print it
/// to see the findings of each endpoint, ordered by route. What breaks decoding comes first:
///
/// ```
/// GET users/{} GetUser, 3 responses
///   $.email: required String, but absent (2 of 3)
///   $.plan: required Plan, but the new value "gold" (1 of 3)
///   unread: $.avatar_url, $.node_id
/// ```
///
/// In a path, `$` is the document, `[*]` each element of an array, and `.*` each value of a dictionary. If the decoder
/// has a key strategy, names are shown as the type sees them. Names from a server are escaped, and long ones are
/// shortened.
public struct ContractReport: Sendable, CustomStringConvertible {
    /// The kind of a finding. The cases that break decoding come first.
    public enum Kind: Int, Sendable, Hashable {
        /// The body can't be decoded: it isn't a document in the decoder format, or it is nested too deep.
        case undecodable
        /// A required member is missing.
        case absent
        /// A value has a different type than your type asks for.
        case otherType
        /// A response contains a value for which your enumeration has no case.
        case newValue
        /// A part of the document can't be checked, because a type decodes itself or the value is redacted.
        case partlyVisible
        /// The document has a member that no type reads.
        case unread

        /// Whether this kind of finding makes decoding fail.
        public var isBreak: Bool { rawValue < Self.partlyVisible.rawValue }
    }

    /// What the report has found at one place in the responses of an endpoint.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The method, the route and the template type. For the body of an error, `failure` or `problem` follows.
        public let endpoint: String
        /// The place in the document, such as `$.items[*].id`.
        public let path: String
        /// Whether and how the place breaks decoding.
        public let kind: Kind
        /// What the type asked for and what the responses contain, without the endpoint and the path.
        public let summary: String
        /// How often the finding occurred, or 0 if that isn't counted.
        public let count: Int
        /// How often a type has asked for the value, or 0 if that isn't counted.
        public let total: Int

        /// The finding without its counts, so that equal findings in two reports have the same name.
        var name: String { "\(endpoint) \(path): \(summary)" }
        fileprivate var counts: String { total == 0 ? "" : " (\(count) of \(total))" }

        /// The endpoint, the path and the summary on one line, with the counts.
        public var description: String { name + counts }
    }

    private struct Responses: Sendable {
        var count = 0
        var members: [String: ContractMember] = [:]
    }

    private let limit: Int
    private var endpoints: [ContractEndpoint: Responses] = [:]
    /// The number of members in all endpoints together.
    private var count = 0
    /// Lines after the endpoints, such as a list of the requests without an endpoint.
    private let notes: [String]

    /// Creates an empty report.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of members in all endpoints together. Further ones are left out.
    ///   - notes: lines to print after the endpoints. Default: none.
    init(limit: Int, notes: [String] = []) { (self.limit, self.notes) = (limit, notes) }

    /// All endpoints with their findings, as in the example above.
    public var description: String {
        var lines: [String] = []
        for (endpoint, responses) in endpoints.sorted(by: { $0.key < $1.key }) {
            let findings = findings(of: endpoint, responses)
            lines.append("\(endpoint), \(responses.count) \(responses.count == 1 ? "response" : "responses")")
            lines += findings.filter { $0.kind != .unread }.map { "  \($0.path): \($0.summary)\($0.counts)" }
            let unread = findings.filter { $0.kind == .unread }.map(\.path)
            if !unread.isEmpty { lines.append("  unread: \(unread.joined(separator: ", "))") }
        }
        return (lines + notes).joined(separator: "\n")
    }

    /// All findings, ordered by route. Within an endpoint, what breaks decoding comes first.
    public var findings: [Finding] {
        endpoints.sorted { $0.key < $1.key }.flatMap { findings(of: $0.key, $0.value) }
    }

    /// One line for each member, sorted: the endpoint, the path, what the type asks for and what breaks.
    public var lines: [String] {
        endpoints.flatMap { endpoint, responses in
            Self.shown(responses.members).map { path, member in
                let breaks = member.problems.keys.filter(\.kind.isBreak).sorted().map { ", \($0.text)" }
                return "\(endpoint) \(path): \(member.demand)\(breaks.joined())"
            }
        }.sorted()
    }

    private func findings(of endpoint: ContractEndpoint, _ responses: Responses) -> [Finding] {
        var found: [Finding] = []
        for (path, member) in Self.shown(responses.members) {
            func add(_ kind: Kind, _ summary: String, _ count: Int = 0, of total: Int = 0) {
                found.append(
                    Finding(
                        endpoint: "\(endpoint)", path: path, kind: kind, summary: summary, count: count, total: total))
            }
            for (problem, count) in member.problems {
                add(problem.kind, "\(member.demand), but \(problem.text)", count, of: max(count, member.count))
            }
            if let remark = member.remark { add(.partlyVisible, "partly visible: \(remark)") }
            if member.isOpen {
                add(.partlyVisible, "partly visible: its members are read by the names that the response contains")
            }
            if !member.isAsked { add(.unread, "unread") }
        }
        return found.sorted { ($0.kind.rawValue, $0.path, $0.summary) < ($1.kind.rawValue, $1.path, $1.summary) }
    }

    /// Leaves out unread members that aren't findings: decoding has not read their object to its end, or a type reads
    /// the object by any name.
    private static func shown(_ members: [String: ContractMember]) -> [String: ContractMember] {
        members.filter { path, member in
            guard !member.isAsked else { return true }
            guard let parent = member.parent.flatMap({ members[$0] }) else { return false }
            return parent.isWhole && !parent.isOpen
        }
    }

    /// Adds the findings of one reading of one document.
    mutating func add(_ reading: ContractReading, to endpoint: ContractEndpoint) {
        add(Responses(count: 1, members: reading.members), to: endpoint)
    }

    /// Adds a second report, and returns all findings of the endpoints that it contains.
    mutating func add(_ other: ContractReport) -> [Finding] {
        for (endpoint, responses) in other.endpoints { add(responses, to: endpoint) }
        return other.endpoints.keys.sorted().flatMap { findings(of: $0, endpoints[$0] ?? Responses()) }
    }

    private mutating func add(_ new: Responses, to endpoint: ContractEndpoint) {
        guard endpoints[endpoint] != nil || max(count, endpoints.count) < limit else { return }
        var responses = endpoints.removeValue(forKey: endpoint) ?? Responses()
        responses.count += new.count
        for (path, member) in new.members {
            // If a type reads an object by any name, the names are data.
            if !member.isAsked, let parent = member.parent, new.members[parent]?.isOpen == true { continue }
            if responses.members[path] == nil {
                guard count < (member.isAsked ? limit : limit / 2) else { continue }
                count += 1
            }
            responses.members[path, default: ContractMember()].add(member)
        }
        endpoints[endpoint] = responses
    }
}

struct ContractEndpoint: Sendable, Hashable, Comparable, CustomStringConvertible {
    let method: String
    let route: String
    var name: String

    var description: String { "\(method) \(route) \(name)" }

    static func < (left: ContractEndpoint, right: ContractEndpoint) -> Bool {
        (left.route, left.method, left.name) < (right.route, right.method, right.name)
    }
}
