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

/// Returns a chain of a link and a loader. If the link consists of joined links, each becomes a separate element.
/// Otherwise each request would create a chain for them.
private func chain(_ link: some LoaderLink, _ next: some HTTPLoader) -> any HTTPLoader {
    (link as? LinkChain)?.before(next) ?? LoaderChain(link: link, next: next)
}

/// Joins two links into one link. A request passes the first one before the second one.
public func --> (first: any LoaderLink, second: any LoaderLink) -> any LoaderLink {
    LinkChain(first: first, second: second)
}

/// Joins two links into one. If one of them is nil, returns the link that isn't, and nil if both are nil.
public func --> (first: (any LoaderLink)?, second: (any LoaderLink)?) -> (any LoaderLink)? {
    guard let first, let second else { return first ?? second }
    return first --> second
}

infix operator ==> : LoaderChainPrecedence

/// Joins two loaders as `-->` does, but keeps the types of both in the type of the result. The compiler can then combine
/// the functions of a chain into one.
func ==> <Link: LoaderLink, Next: HTTPLoader>(link: Link, next: Next) -> LoaderChain<Link, Next> {
    LoaderChain(link: link, next: next)
}

/// A link and the following loader. `-->` creates it, and its description shows its composition.
///
/// It has generic parameters for its parts, so that the compiler can specialize a chain that is created and used in one
/// function. It is a class, because a link receives its next loader as `any HTTPLoader`, and converting a class
/// reference to that type copies no loader.
///
/// Every client contains a few links with a `load` that is `@inline(__always)`. The function of the chain then contains
/// it, so that a request needs one asynchronous call less for each of these links.
final class LoaderChain<Link: LoaderLink, Next: HTTPLoader>: HTTPLoader, CustomStringConvertible {
    let link: Link
    let next: Next
    /// The next loader in the form in which links receive it. The existential is created once.
    let erasedNext: any HTTPLoader

    init(link: Link, next: Next) {
        self.link = link
        self.next = next
        erasedNext = next
    }

    /// Calls the link, which continues with the rest of the chain.
    ///
    /// If the compiler knows the type of the next loader, it can specialize the call. Otherwise this passes the
    /// existential that was created once, because converting the loader would copy it for each request.
    @inline(__always)
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if _isConcrete(Next.self) { return try await link.load(request, next: next) }
        return try await link.load(request, next: erasedNext)
    }

    func reset() async { await link.reset(next: next) }

    /// The links in order: `PrintLoader --> ApplyEnvironment --> CurlLoader`.
    var description: String { "\(chainName(of: link)) --> \(chainName(of: next))" }
}

/// Two links as one. `-->` creates it.
struct LinkChain: LoaderLink, CustomStringConvertible {
    let first: any LoaderLink
    let second: any LoaderLink

    fileprivate func before(_ next: any HTTPLoader) -> any HTTPLoader { chain(first, chain(second, next)) }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await first.load(request, next: second --> next)
    }

    /// Resets both links, and then the next loader once.
    func reset(next: any HTTPLoader) async { await first.reset(next: second --> next) }

    var description: String { "\(chainName(of: first)) --> \(chainName(of: second))" }
}

/// Returns the description of a part, or else the name of its type.
func chainName(of part: any Sendable) -> String {
    (part as? any CustomStringConvertible)?.description ?? String(describing: type(of: part))
}
