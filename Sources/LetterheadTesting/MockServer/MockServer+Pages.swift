// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

extension MockServer {
    /// The way in which a paginated API names its pages; see ``Response/page(of:for:style:size:)``.
    public enum PageStyle: Sendable, Hashable {
        /// The query items `page`, starting at 1, and `per_page`. The body is an array.
        case number
        /// The query items `offset` and `limit`. The body is an array.
        case offset
        /// The query item `cursor`. The body is an object with `items` and `next`, which is null on the last page.
        case cursor
        /// The query item `page` and a `Link` header with `rel="next"` (RFC 8288). The body is an array.
        case link
        /// The body is an object with `items` and `next`, the URL of the next page, which is null on the last page.
        case nextURL
    }
}

extension MockServer.Response {
    /// Returns one page of a list, in the style of pagination of an API.
    ///
    /// ```swift
    /// let server = try await MockServer.start { request in
    ///     try .page(of: users, for: request, style: .link, size: 2)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - items: all items.
    ///   - request: the request.
    ///   - style: the style of pagination.
    ///   - size: the number of items on a page if the request has neither `per_page` nor `limit`. Default: 20.
    /// - Throws: the error of the encoder.
    public static func page(
        of items: [some Encodable], for request: MockServer.Request, style: MockServer.PageStyle, size: Int = 20
    ) throws -> MockServer.Response {
        let asked = ["per_page", "limit"].lazy.compactMap { request.queryValue($0).flatMap { Int($0) } }.first
        let size = max(1, min(asked ?? size, max(1, items.count)))
        let start = max(0, min(start(request, style, size), items.count))
        let page = Array(items[start..<min(start + size, items.count)])
        let next = start + size < items.count ? start + size : nil
        // The target of the request with the number of the next page.
        let url = next.map { next in
            var query = QueryParameters(escaped: request.query ?? "")
            query["page"] = "\(next / size + 1)"
            return "\(request.path)?\(query.escaped)"
        }
        switch style {
        case .number, .offset: return try .json(page)
        case .link:
            var response = try json(page)
            response.headers["Link"] = url.map { "<\($0)>; rel=\"next\"" }
            return response
        case .cursor: return try .json(PageObject(items: page, next: next.map { "cursor-\($0)" }))
        case .nextURL: return try .json(PageObject(items: page, next: url))
        }
    }

    private static func start(_ request: MockServer.Request, _ style: MockServer.PageStyle, _ size: Int) -> Int {
        switch style {
        case .number, .link, .nextURL:
            let page = max(1, min(request.queryValue("page").flatMap { Int($0) } ?? 1, 1 << 30))
            return (page - 1) * size
        case .offset: return request.queryValue("offset").flatMap { Int($0) } ?? 0
        case .cursor: return request.queryValue("cursor").flatMap { Int($0.dropFirst("cursor-".count)) } ?? 0
        }
    }
}

/// A page as an object.
private struct PageObject<Item: Encodable>: Encodable {
    let items: [Item]
    let next: String?

    private enum CodingKeys: String, CodingKey { case items, next }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(items, forKey: .items)
        try container.encode(next, forKey: .next)
    }
}
