/// A link made of links.
///
/// ``Choose`` is one, and so is what ``LoaderLink/when(otherwise:_:)``, ``LoaderLink/around(_:)`` and
/// ``LoaderLink/named(_:)`` return. Write one to have it printed as a tree and to have
/// its parts reset right: name the ``parts``, and inherit ``LoaderLink/reset(next:)``.
///
/// Laws: each part is in ``parts``, in the order in which a tree shows them; a reset reaches each part once, and what is
/// below once, whichever parts a load would take.
public protocol CompositeLink: LoaderLink {
    /// The links that it is made of, with what a tree calls them; nil for one that needs no name.
    var parts: [(name: String?, link: any LoaderLink)] { get }
}

extension CompositeLink {
    /// Resets each part once, whether it stands in several places or not, and then what is below, once.
    public func reset(next: any HTTPLoader) async {
        await resetOnce(parts.map(\.link))
        await next.reset()
    }
}

/// Resets links without what is below them; one that stands in several of them is reset once.
func resetOnce(_ links: [any LoaderLink]) async {
    await ResetRound.join { round in
        for link in links.flatMap({ ($0 as? LinkChain)?.links ?? [$0] }) where round.comes(to: link) {
            await link.reset(next: Nothing())
        }
    }
}

/// Stands for the rest of the chain while a link is reset alone, so that the rest is reset once and not once for each link.
struct Nothing: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(
            .resetInProgress, request: request, message: "a link loads in its reset", mayHaveBeenSent: false)
    }
}
