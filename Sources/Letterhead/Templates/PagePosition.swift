/// The position of a page: the part of its request that differs from the requests of the other pages.
///
/// It can be stored: see ``PageCheckpoint``.
public enum PagePosition: Sendable, Hashable, Codable {
    /// The first page: the template without changes.
    case first
    /// The page with a number.
    case number(Int)
    /// The page after a number of items.
    case offset(Int)
    /// The page that a cursor identifies.
    case cursor(JSONValue)
    /// The page at a URL, byte for byte as sent by the server, except for spaces and characters outside ASCII.
    case url(String)
    /// A page that only the response of the page before it identifies. It cannot be requested.
    case unknown
}

extension PagePosition: CustomStringConvertible, CustomReflectable {
    /// The kind of position. The values of a URL and of a cursor are omitted, because they may contain a secret.
    public var description: String {
        switch self {
        case .first: "first"
        case .number(let number): "number \(number)"
        case .offset(let offset): "offset \(offset)"
        case .cursor: "a cursor"
        case .url: "a URL"
        case .unknown: "unknown"
        }
    }

    /// A mirror of ``description`` only.
    public var customMirror: Mirror { Mirror(describing: self, as: .enum) }
}

/// The position of a page from which an iteration can continue later, also in another process.
///
/// ```swift
/// let saved = try JSONEncoder().encode(page.checkpoint)
/// client.pages(of: walk, from: try JSONDecoder().decode(PageCheckpoint.self, from: saved))
/// ```
public struct PageCheckpoint: Sendable, Hashable, Codable {
    /// The number of the page.
    public var page: Int
    /// The position of the page.
    public var position: PagePosition

    /// Creates a checkpoint.
    public init(page: Int, position: PagePosition) {
        self.page = page
        self.position = position
    }
}

extension PagePosition {
    /// The reason why the page at ``unknown`` cannot be requested.
    static let unknownRule =
        "only the response of the page before this one identifies it: use requestForNextPage(after:), or a "
        + "checkpoint of the same kind of pagination"
}
