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
    link.map { LoaderChain(link: $0, next: next) } ?? next
}

/// Puts a link before a loader.
public func --> (link: some LoaderLink, next: any HTTPLoader) -> LoaderChain { LoaderChain(link: link, next: next) }

/// Joins two links into one; without the second, it is the first.
public func --> (first: some LoaderLink, second: (any LoaderLink)?) -> any LoaderLink {
    second.map { LinkChain(first: first, second: $0) } ?? first
}

/// Joins two links into one.
public func --> (first: some LoaderLink, second: some LoaderLink) -> LinkChain {
    LinkChain(first: first, second: second)
}

/// Joins two links into one; without the first, it is the second; without both, nothing.
public func --> (first: (any LoaderLink)?, second: (any LoaderLink)?) -> (any LoaderLink)? {
    guard let first else { return second }
    return second.map { LinkChain(first: first, second: $0) } ?? first
}

/// A link and what stands behind it: a chain, which is itself a loader. Made with `-->`; its description is its composition.
public struct LoaderChain: HTTPLoader, CustomStringConvertible {
    private let link: any LoaderLink
    private let next: any HTTPLoader

    /// Joined links are taken apart here, once, so that a load makes no chain of its own for them.
    init(link: any LoaderLink, next: any HTTPLoader) {
        var (link, next) = (link, next)
        while let pair = link as? LinkChain {
            (link, next) = (pair.first, LoaderChain(link: pair.second, next: next))
        }
        self.link = link
        self.next = next
    }

    /// Has the link answer, with the rest of the chain behind it.
    public func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await link.load(request, next: next)
    }

    /// Resets every link once, from the first to the last.
    public func reset() async { await link.reset(next: next) }

    /// The links in order.
    var links: [any LoaderLink] { [link] + ((next as? LoaderChain)?.links ?? []) }

    /// What answers at the end.
    var end: any HTTPLoader { (next as? LoaderChain)?.end ?? next }

    /// The links in order: `PrintLoader --> ApplyEnvironment --> CurlLoader`.
    public var description: String { "\(chainName(of: link)) --> \(chainName(of: next))" }
}

/// Two links as one link. Made with `-->`.
public struct LinkChain: LoaderLink, CustomStringConvertible {
    fileprivate let first: any LoaderLink
    fileprivate let second: any LoaderLink

    init(first: any LoaderLink, second: any LoaderLink) {
        self.first = first
        self.second = second
    }

    /// Has the first answer, with the second and the next loader behind it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await first.load(request, next: LoaderChain(link: second, next: next))
    }

    /// Resets both, and what is below them, once.
    public func reset(next: any HTTPLoader) async { await first.reset(next: LoaderChain(link: second, next: next)) }

    /// The links in order.
    var links: [any LoaderLink] {
        [first, second].flatMap { ($0 as? LinkChain)?.links ?? [$0] }
    }

    /// The links in order.
    public var description: String { "\(chainName(of: first)) --> \(chainName(of: second))" }
}

/// What a part of a chain is called: its own description if it has one, else the name of its type.
func chainName(of part: any Sendable) -> String {
    (part as? any CustomStringConvertible)?.description ?? String(describing: type(of: part))
}
