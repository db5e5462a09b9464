// SPDX-License-Identifier: MIT
/// The position of a page in its sequence. The requests for the pages differ only in their positions.
///
/// To store a position, see ``PageCheckpoint``.
public enum PagePosition: Sendable, Hashable, Codable {
    /// The first page, requested by the unchanged template.
    case first
    /// The page with this number.
    case number(Int)
    /// The page that begins after this number of items.
    case offset(Int)
    /// The page that this opaque value identifies.
    case cursor(JSONValue)
    /// The page at this absolute, percent-encoded URL. It is the link that the server sent, resolved against the URL of
    /// the page that contains it.
    ///
    /// The page is requested only from the origin of this URL. If the environment or the base URL has a different
    /// origin, sending fails with `.invalidRequest` before anything is sent.
    case url(String)
    /// A page that only the response of the previous page can identify. A request for it fails with `.invalidRequest`.
    case unknown
}

extension PagePosition: CustomStringConvertible, CustomReflectable {
    /// The kind of position, with its number or offset. URLs and cursors are omitted, because they may contain a
    /// secret.
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

    public var customMirror: Mirror { Mirror(describing: self, as: .enum) }
}

/// The number and the position of a page. Store it to continue an iteration later, even in a different process.
///
/// ```swift
/// let saved = try JSONEncoder().encode(page.checkpoint)
/// client.pages(of: walk, from: try JSONDecoder().decode(PageCheckpoint.self, from: saved))
/// ```
public struct PageCheckpoint: Sendable, Hashable, Codable {
    /// The page number, counted as in ``Page/number``.
    public var page: Int
    /// The position that identifies the page for the server.
    public var position: PagePosition

    /// Creates a checkpoint, for example from a number and a cursor that you have stored yourself.
    public init(page: Int, position: PagePosition) {
        self.page = page
        self.position = position
    }
}

extension PagePosition {
    static let unknownRule =
        "only the response of the previous page identifies this page: use requestForNextPage(after:), or a "
        + "checkpoint of the same kind of pagination"
}
