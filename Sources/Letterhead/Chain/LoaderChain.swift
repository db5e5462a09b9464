// SPDX-License-Identifier: MIT
infix operator --> : LoaderChainPrecedence

/// Right-associative, with a precedence just above `??`: `x ?? a --> b` is `x ?? (a --> b)`.
precedencegroup LoaderChainPrecedence {
    associativity: right
    higherThan: NilCoalescingPrecedence
}

/// Returns a chain of a link and a loader, or only the loader if the link is nil.
///
/// ```swift
/// let chain = PrintLoader() --> ApplyEnvironment(local) --> HTTPClient.defaultTransport
/// let chain = (isVerbose ? PrintLoader() : nil) --> HTTPClient.defaultTransport
/// ```
public func --> (link: (any LoaderLink)?, next: any HTTPLoader) -> any HTTPLoader {
    link.map { chain($0, next) } ?? next
}

public func --> (link: some LoaderLink, next: any HTTPLoader) -> any HTTPLoader { chain(link, next) }

@inlinable
public func --> <Link: LoaderLink, Next: HTTPLoader>(link: Link, next: Next) -> some HTTPLoader {
    LoaderChain(link: link, next: next)
}

/// Returns a chain of links, the outermost first, and a loader.
///
/// ```swift
/// let links: [any LoaderLink] = [PrintLoader(), Retry(), ApplyEnvironment(local)]
/// let chain = links --> HTTPClient.defaultTransport
/// ```
public func --> (links: [any LoaderLink], next: any HTTPLoader) -> any HTTPLoader {
    var loader = next
    for link in links.reversed() { loader = chain(link, loader) }
    return loader
}

/// Returns a chain in which joined links are separate elements. Otherwise each request would create a chain for them.
private func chain(_ link: some LoaderLink, _ next: some HTTPLoader) -> any HTTPLoader {
    (link as? LinkChain)?.before(next) ?? LoaderChain(link: link, next: next)
}

/// Joins two links into one, or returns the first link if the second is nil.
public func --> (first: some LoaderLink, second: (any LoaderLink)?) -> any LoaderLink {
    second.map { LinkChain(first: first, second: $0) } ?? first
}

public func --> (first: some LoaderLink, second: some LoaderLink) -> any LoaderLink {
    LinkChain(first: first, second: second)
}

/// Joins two links into one. Returns the other link if one of them is nil, and nil if both are nil.
public func --> (first: (any LoaderLink)?, second: (any LoaderLink)?) -> (any LoaderLink)? {
    guard let first else { return second }
    return second.map { LinkChain(first: first, second: $0) } ?? first
}

/// A chain of a link and the following loader. It is a loader, is created with `-->`, and describes its composition.
///
/// It has generic parameters for its parts, so that the compiler can specialize a chain that is created and used in one
/// function. It is a class, because a link receives its next loader as `any HTTPLoader`, and converting a class
/// reference to that type copies no loader.
///
/// The `load` of each link that every client contains is `@inline(__always)`: the function through which a chain calls
/// the link then contains it, so that a request needs one asynchronous call less for each of these links.
@usableFromInline final class LoaderChain<Link: LoaderLink, Next: HTTPLoader>: HTTPLoader, CustomStringConvertible {
    @usableFromInline let link: Link
    @usableFromInline let next: Next
    /// The next loader as links receive it. The existential is created once.
    @usableFromInline let erasedNext: any HTTPLoader

    @inlinable
    init(link: Link, next: Next) {
        self.link = link
        self.next = next
        erasedNext = next
    }

    /// Calls the link, followed by the rest of the chain.
    ///
    /// If the compiler knows the type of the next loader, it can specialize the call. Otherwise the existential that
    /// was created once is passed, because converting the loader would copy it for each request.
    @inlinable
    @inline(__always)
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if _isConcrete(Next.self) { return try await link.load(request, next: next) }
        return try await link.load(request, next: erasedNext)
    }

    /// Resets every link, from the first to the last.
    @usableFromInline func reset() async { await link.reset(next: next) }

    /// The links in order: `PrintLoader --> ApplyEnvironment --> CurlLoader`.
    @usableFromInline var description: String { "\(chainName(of: link)) --> \(chainName(of: next))" }
}

/// A link that consists of two links. It is created with `-->`.
struct LinkChain: LoaderLink, CustomStringConvertible {
    fileprivate let first: any LoaderLink
    fileprivate let second: any LoaderLink

    init(first: any LoaderLink, second: any LoaderLink) {
        self.first = first
        self.second = second
    }

    fileprivate func before(_ next: any HTTPLoader) -> any HTTPLoader { chain(first, chain(second, next)) }

    /// Calls the first link, followed by the second and the next loader.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await first.load(request, next: second --> next)
    }

    /// Resets both links, and then the next loader once.
    func reset(next: any HTTPLoader) async { await first.reset(next: second --> next) }

    var description: String { "\(chainName(of: first)) --> \(chainName(of: second))" }
}

/// Returns the description of a part of a chain, or the name of its type if it has no description.
func chainName(of part: any Sendable) -> String {
    (part as? any CustomStringConvertible)?.description ?? String(describing: type(of: part))
}

/// Returns the description of a composite on one line: its type, with its parts in parentheses.
func chainName(of link: any LoaderLink, parts: [(name: String?, link: any LoaderLink)]) -> String {
    let names = parts.map { part in (part.name.map { "\($0): " } ?? "") + chainName(of: part.link) }
    return "\(type(of: link))" + (names.isEmpty ? "" : "(\(names.joined(separator: " | ")))")
}
