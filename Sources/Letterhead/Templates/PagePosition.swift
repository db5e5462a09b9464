/// Where in a walk a page is: what its request says that those of the other pages do not.
///
/// It is a value that can be kept: see ``PageCheckpoint``.
public enum PagePosition: Sendable, Hashable, Codable {
    /// The template as it is.
    case first
    /// The page of a number.
    case number(Int)
    /// The page behind so many items.
    case offset(Int)
    /// The page that a cursor names.
    case cursor(JSONValue)
    /// The page at a URL, byte for byte as the server gave it, apart from spaces and characters outside ASCII.
    case url(String)
    /// A page that only the answer of the page before it names; it cannot be asked for.
    case unknown
}

extension PagePosition: CustomStringConvertible, CustomReflectable {
    /// What it is; of a URL and of a cursor only that it is one, for either may hold a secret.
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

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(describing: self, as: .enum) }
}

/// A place from which a walk can go on later, in another process too.
///
/// ```swift
/// let saved = try JSONEncoder().encode(page.checkpoint)
/// client.pages(of: walk, from: try JSONDecoder().decode(PageCheckpoint.self, from: saved))
/// ```
public struct PageCheckpoint: Sendable, Hashable, Codable {
    /// The number of the page.
    public var page: Int
    /// Where it is.
    public var position: PagePosition

    /// Makes a checkpoint.
    public init(page: Int, position: PagePosition) {
        self.page = page
        self.position = position
    }
}
