// SPDX-License-Identifier: MIT
/// The value that identifies a page in its sequence, and by which the requests for the pages differ.
///
/// To store a position, see ``PageCheckpoint``.
public enum PagePosition: Sendable, Hashable, Codable {
    /// The first page, which the unchanged template requests.
    case first
    /// The page with this number.
    case number(Int)
    /// The page that begins after this number of items.
    case offset(Int)
    /// The page that this cursor identifies.
    case cursor(JSONValue)
    /// The page at this absolute URL. It is the link of the server, resolved against the URL of the page that contains
    /// it, and percent-encoded. The page is requested only at the origin of the URL: if the environment or the base URL
    /// of the request has another origin, the request is `.invalidRequest`, and nothing is sent.
    case url(String)
    /// A page that can be identified only with the response of the previous page. It cannot be requested.
    case unknown
}

extension PagePosition: CustomStringConvertible, CustomReflectable {
    /// The kind of the position, with its number or offset. A URL or a cursor is omitted, because it may contain a
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

/// The number and the position of a page. Store it if you want to continue an iteration later, also in another process.
///
/// ```swift
/// let saved = try JSONEncoder().encode(page.checkpoint)
/// client.pages(of: walk, from: try JSONDecoder().decode(PageCheckpoint.self, from: saved))
/// ```
public struct PageCheckpoint: Sendable, Hashable, Codable {
    public var page: Int
    public var position: PagePosition

    public init(page: Int, position: PagePosition) {
        self.page = page
        self.position = position
    }
}

extension PagePosition {
    /// The reason why the page at ``unknown`` cannot be requested.
    static let unknownRule =
        "only the response of the previous page identifies this page: use requestForNextPage(after:), or a "
        + "checkpoint of the same kind of pagination"
}
