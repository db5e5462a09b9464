// SPDX-License-Identifier: MIT
import Synchronization

/// Chooses one of several links for each request. For a single link with a condition, ``LoaderLink/when(otherwise:_:)``
/// is simpler.
///
/// ```swift
/// Choose { request in request[option: Lane.self] == "fast" ? nil : careful }
/// Choose(among: ["fast": fast, "careful": careful]) { request in request[option: Lane.self] }
/// ```
///
/// If the closure returns nil, the next loader is called. In the first form, the closure can return any link, but a
/// reset and a description reach only the links that it has returned: objects are held weakly, and of values the last
/// one of each type is kept. The second form knows its links in advance: prefer it for links with state. If the closure
/// throws, the request fails with its error, and nothing is sent.
public struct Choose: CompositeLink, CustomStringConvertible {
    private enum Choice: Sendable {
        case link(@Sendable (HTTPRequest) async throws -> (any LoaderLink)?)
        case name(@Sendable (HTTPRequest) async throws -> String?)
    }

    private let choice: Choice
    private let named: [(name: String?, link: any LoaderLink)]
    private let seen: SeenLinks?

    /// Creates a link from a closure that returns any link, or nil for none.
    public init(_ choose: @escaping @Sendable (HTTPRequest) async throws -> (any LoaderLink)?) {
        choice = .link(choose)
        named = []
        seen = SeenLinks()
    }

    /// Creates a link from a closure that returns the name of one of the given links, or nil for none. An unknown name
    /// is `.invalidRequest`.
    public init(
        among links: KeyValuePairs<String, any LoaderLink>,
        _ choose: @escaping @Sendable (HTTPRequest) async throws -> String?
    ) {
        named = links.map { ($0.key, $0.value) }
        seen = nil
        choice = .name(choose)
    }

    public var parts: [(name: String?, link: any LoaderLink)] { named + (seen?.all.map { (nil, $0) } ?? []) }

    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let link = try await link(for: request) else { return try await next.load(request) }
        seen?.note(link)
        return try await link.load(request, next: next)
    }

    private func link(for request: HTTPRequest) async throws(HTTPError) -> (any LoaderLink)? {
        let name: String?
        switch choice {
        case .link(let choose): return try await request.mappingErrors { try await choose(request) }
        case .name(let choose): name = try await request.mappingErrors { try await choose(request) }
        }
        guard let name else { return nil }
        if let link = named.first(where: { $0.name == name })?.link { return link }
        throw HTTPError(
            .invalidRequest, request: request, message: "Choose has no link with the name that its closure returned")
    }

    /// The known links: `Choose(fast: Throttle(4) | careful: Throttle(1))`.
    public var description: String { chainName(of: self, parts: parts) }
}

/// The links that a closure has returned, in one list for all copies of the link.
///
/// Objects are held weakly. Of values, the last one of each type is kept, because values have no identity.
private final class SeenLinks: Sendable {
    private enum Seen: Sendable {
        case object(Weak)
        case value(any LoaderLink)
    }

    private struct Weak: Sendable {
        weak var object: (any LoaderLink & AnyObject)?
    }

    private let seen = Mutex<[ObjectIdentifier: Seen]>([:])

    func note(_ link: any LoaderLink) {
        for link in (link as? LinkChain)?.links ?? [link] {
            let key =
                type(of: link) is AnyClass ? ObjectIdentifier(link as AnyObject) : ObjectIdentifier(type(of: link))
            seen.withLock { seen in
                if case .object(let weak)? = seen[key], weak.object != nil { return }
                seen[key] = (link as? any LoaderLink & AnyObject).map { .object(Weak(object: $0)) } ?? .value(link)
            }
        }
    }

    var all: [any LoaderLink] {
        seen.withLock { seen in
            seen = seen.filter { if case .object(let weak) = $0.value { weak.object != nil } else { true } }
            return seen.values.compactMap {
                if case .object(let weak) = $0 { weak.object } else if case .value(let link) = $0 { link } else { nil }
            }
        }
    }
}
