infix operator --> : LoaderChainPrecedence

/// Joins from the right, and binds just tighter than `??`: `x ?? a --> b` is `x ?? (a --> b)`.
precedencegroup LoaderChainPrecedence {
    associativity: right
    higherThan: NilCoalescingPrecedence
}

/// Puts a link before a loader; without the link, it is the loader alone.
///
/// ```swift
/// let chain = PrintLoader() --> ApplyEnvironment(local) --> HTTPClient.defaultTransport
/// let chain = (isVerbose ? PrintLoader() : nil) --> HTTPClient.defaultTransport
/// ```
public func --> (link: (any LoaderLink)?, next: any HTTPLoader) -> any HTTPLoader {
    link.map { chain($0, next) } ?? next
}

/// Puts a link before a loader.
public func --> (link: some LoaderLink, next: any HTTPLoader) -> any HTTPLoader { chain(link, next) }

/// Puts a link before a loader of a known type.
@inlinable
public func --> <Link: LoaderLink, Next: HTTPLoader>(link: Link, next: Next) -> some HTTPLoader {
    LoaderChain(link: link, next: next)
}

/// Links that were joined are taken apart here, once, so that a load makes no chain of its own for them.
private func chain(_ link: some LoaderLink, _ next: some HTTPLoader) -> any HTTPLoader {
    (link as? LinkChain)?.before(next) ?? LoaderChain(link: link, next: next)
}

/// Joins two links into one; without the second, it is the first.
public func --> (first: some LoaderLink, second: (any LoaderLink)?) -> any LoaderLink {
    second.map { LinkChain(first: first, second: $0) } ?? first
}

/// Joins two links into one.
public func --> (first: some LoaderLink, second: some LoaderLink) -> any LoaderLink {
    LinkChain(first: first, second: second)
}

/// Joins two links into one; without the first, it is the second; without both, nothing.
public func --> (first: (any LoaderLink)?, second: (any LoaderLink)?) -> (any LoaderLink)? {
    guard let first else { return second }
    return second.map { LinkChain(first: first, second: $0) } ?? first
}

/// A link and what stands behind it: a chain, which is itself a loader. Made with `-->`; its description is its composition.
///
/// It knows the types of its parts, so that the compiler can make one function of a chain that is written in one place and
/// used there. A class, because a link gets its next loader as `any HTTPLoader`, and a reference is that without a copy.
@usableFromInline final class LoaderChain<Link: LoaderLink, Next: HTTPLoader>: HTTPLoader, CustomStringConvertible {
    @usableFromInline let link: Link
    @usableFromInline let next: Next
    /// The next loader as links get it, made once.
    @usableFromInline let behind: any HTTPLoader

    @inlinable
    init(link: Link, next: Next) {
        self.link = link
        self.next = next
        behind = next
    }

    /// Has the link answer, with the rest of the chain behind it.
    ///
    /// Where the compiler knows the next loader it can go on into it; where it does not, it would copy it for each load.
    @inlinable
    @inline(__always)
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if _isConcrete(Next.self) { return try await link.load(request, next: next) }
        return try await link.load(request, next: behind)
    }

    /// Resets every link once, from the first to the last; an object that stands in several places once, too.
    @usableFromInline func reset() async {
        await ResetRound.join { round in
            if round.comes(to: link) { await link.reset(next: next) } else { await next.reset() }
        }
    }

    /// The links in order: `PrintLoader --> ApplyEnvironment --> CurlLoader`.
    @usableFromInline var description: String { "\(chainName(of: link)) --> \(chainName(of: next))" }
}

/// A chain, whatever it is made of.
protocol LinkedLoader: HTTPLoader {
    /// The links in order.
    var links: [any LoaderLink] { get }
    /// What answers at the end.
    var end: any HTTPLoader { get }
}

extension LoaderChain: LinkedLoader {
    var links: [any LoaderLink] { ((link as? LinkChain)?.links ?? [link]) + ((next as? any LinkedLoader)?.links ?? []) }

    var end: any HTTPLoader { (next as? any LinkedLoader)?.end ?? next }
}

/// Two links as one link. Made with `-->`.
struct LinkChain: LoaderLink, CustomStringConvertible {
    fileprivate let first: any LoaderLink
    fileprivate let second: any LoaderLink

    init(first: any LoaderLink, second: any LoaderLink) {
        self.first = first
        self.second = second
    }

    fileprivate func before(_ next: any HTTPLoader) -> any HTTPLoader { first --> (second --> next) }

    /// Has the first answer, with the second and the next loader behind it.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await first.load(request, next: second --> next)
    }

    /// Resets both, and what is below them, once.
    func reset(next: any HTTPLoader) async { await first.reset(next: second --> next) }

    /// The links in order.
    var links: [any LoaderLink] {
        [first, second].flatMap { ($0 as? LinkChain)?.links ?? [$0] }
    }

    /// The links in order.
    var description: String { "\(chainName(of: first)) --> \(chainName(of: second))" }
}

/// What a part of a chain is called: its own description if it has one, else the name of its type.
func chainName(of part: any Sendable) -> String {
    (part as? any CustomStringConvertible)?.description ?? String(describing: type(of: part))
}
