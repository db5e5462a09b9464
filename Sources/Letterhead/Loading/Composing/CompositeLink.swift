/// A link that consists of other links.
///
/// ``Choose`` and the results of ``LoaderLink/when(otherwise:_:)``, ``LoaderLink/around(_:)`` and
/// ``LoaderLink/named(_:)`` are composite links. Write one if its parts should be printed as a tree and reset
/// correctly: return its links in ``parts``, and inherit ``LoaderLink/reset(next:)``.
///
/// Laws:
/// - ``parts`` contains all parts, in the order of the printed tree.
/// - A reset reaches each part, and the next loader once, regardless of the parts that a request would use.
public protocol CompositeLink: LoaderLink {
    /// The parts of the link, with their names for the printed tree. The name is nil for a part without a name.
    var parts: [(name: String?, link: any LoaderLink)] { get }
}

extension CompositeLink {
    /// Resets each part, and then the next loader once.
    public func reset(next: any HTTPLoader) async {
        for part in parts { await part.link.reset(next: Nothing()) }
        await next.reset()
    }
}

/// Replaces the rest of the chain while a link is reset, so that the rest is reset once instead of once for each link.
struct Nothing: HTTPLoader {
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        throw HTTPError(
            .resetInProgress, request: request, message: "a link must not send requests during its reset",
            mayHaveBeenSent: false)
    }
}
