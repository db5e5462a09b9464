// SPDX-License-Identifier: MIT
import Letterhead
import Testing

extension RequestTemplate where Response == [String: Int] {
    fileprivate var query: QueryParameters { ["numbers": 1] }
}

private struct Numbers: RequestTemplate {
    typealias Response = [String: Int]
    let path: RequestPath = "a"
}

private struct Plain: RequestTemplate {
    let path: RequestPath = "a"
}

private struct Renamed<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    var path: RequestPath { "b" }
}

/// An extension of the caller may declare members for some templates.
@Suite struct TemplateExtensionTests {
    @Test func `a member of a constrained extension is used by the templates that it applies to`() throws {
        #expect(try StandardRequestBuilder(Numbers()).request().target == "/a?numbers=1")
        #expect(try StandardRequestBuilder(Renamed(base: Numbers())).request().target == "/b?numbers=1")
        #expect(try StandardRequestBuilder(Plain()).request().target == "/a")
    }
}
