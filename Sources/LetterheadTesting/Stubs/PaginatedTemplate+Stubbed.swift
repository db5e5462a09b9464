// SPDX-License-Identifier: MIT
import LetterheadFoundation
public import Letterhead

extension PaginatedTemplate {
    /// Returns a pager that loads values without a network, to test a user interface that shows pages.
    ///
    /// ```swift
    /// let model = FollowerList(pager: ListFollowers(login: "ada").paginated().stubbedPager([[ada], [grace]]))
    /// ```
    ///
    /// - Parameter pages: one value for each page, beginning with the first page, as in ``StubAnswer/pages(_:)``.
    public func stubbedPager(_ pages: [Response]) -> Pager<Self> { stubbedClient(pages).pager(of: self) }

    /// Returns a page sequence that is loaded without a network.
    ///
    /// - Parameter pages: one value for each page, beginning with the first page, as in ``StubAnswer/pages(_:)``.
    public func stubbedPages(_ pages: [Response]) -> PageSequence<Self, Page<Response>> {
        stubbedClient(pages).pages(of: self)
    }

    private func stubbedClient(_ pages: [Response]) -> HTTPClient {
        let stubs = StubLoader().on(Self.self, times: .any) { _ in .pages(pages) }
        return HTTPClient(environment: ServerEnvironment(baseURL: Self.stubbedBase), transport: stubs)
    }

    private static var stubbedBase: URL { URL(string: "https://stubbed.test") ?? URL(filePath: "/") }
}
