// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import TestKit
import Testing

private enum Tenant: HTTPRequestOption { static let defaultOptionValue: String? = "none" }

private struct Named: HTTPValidator { var name: Int }

@Suite struct DecoratorTests {
    private let base = TestEndpoint("a").with {
        $0.headers = ["X": "1", "Y": "1", "x": "2"]
        $0.query = ["a": 1, "b": 1, "a": 2]
    }

    @Test func `a header replaces all of that name, the later one wins, and one can be added`() {
        #expect(base.header("X", "3").header("x", "4").headers == ["Y": "1", "x": "4"])
        #expect(base.headers.count == 3)
        #expect(base.headers(["X": "3", "X": "4", "Z": "5"]).headers == ["Y": "1", "X": "3", "X": "4", "Z": "5"])
        #expect(base.addingHeader("X", "3").headers.values(for: "X") == ["1", "2", "3"])
    }

    @Test func `a header that is nil is omitted`() {
        let value: String? = nil
        #expect(base.header("x", nil).headers == ["Y": "1"] && base.header("Z", value).headers == base.headers)
        #expect(base.header("X", nil).header("X", "3").headers == ["Y": "1", "X": "3"])
        #expect(base.header("X", "3").header("X", value).headers == ["Y": "1"])
        #expect(base.addingHeader("X", value).headers == base.headers)
    }

    @Test func `a query parameter replaces all of that name, nil removes it, and one can be added`() {
        #expect(base.query("a", 3).query("a", [4, 5]).query.escaped == "b=1&a=4&a=5")
        #expect(base.query("a", QueryParameters.flag).query.escaped == "b=1&a")
        #expect(base.query("a", nil).query.escaped == "b=1" && base.query("a", String?.none).query.escaped == "b=1")
        #expect(base.addingQuery("a", 3).query.escaped == "a=1&b=1&a=2&a=3")
        #expect(base.addingQuery("c", nil).query.escaped == "a=1&b=1&a=2")
    }

    @Test func `an option is set, an explicit nil too, and the later one wins`() throws {
        let template = base.option(Tenant.self, "a").option(Tenant.self, "b").timeout(.seconds(5))
        let request = try StandardRequestBuilder(template).request()
        #expect(request[option: Tenant.self] == "b" && request.timeout == .seconds(5))
        let without = try StandardRequestBuilder(template.option(Tenant.self, nil).timeout(nil)).request()
        #expect(without[option: Tenant.self] == nil && without.options.contains(TimeoutOption.self))
        #expect(without.timeout == nil)
    }

    @Test func `consecutive options nest, and each has its value`() throws {
        let template = TestEndpoint("a").timeout(.seconds(5)).retry(.immediate, maximumRetries: 2).accepting([404])
            .redirects(.never).option(Tenant.self, "b").deadline(in: .seconds(9))
        let request = try StandardRequestBuilder(template).request()
        #expect(request.timeout == .seconds(5) && request.maximumRetries == 2 && request.deadline == .seconds(9))
        #expect(request.acceptedStatuses == [404] && template.acceptedStatuses == [404])
        #expect(request[option: Tenant.self] == "b" && request.redirectPolicy?.limit == 20)
    }

    @Test func `headers, query and options nest in the order written`() {
        let once = TestEndpoint("a").header("X", "1")
        #expect(type(of: once.timeout(nil)) == Modified<Modified<TestEndpoint<HTTPResponse>>>.self)
        let template = TestEndpoint("a").header("X", "1").query("a", 1).timeout(.seconds(5)).addingHeader("X", "2")
            .headers(["Y": "1"]).addingQuery("a", 2).header("Y", nil)
        #expect(template.headers.map(\.value) == ["1", "2"] && template.query.escaped == "a=1&a=2")
        #expect(template.header("X", "3").query("a", 3).headers.map(\.value) == ["3"])
        #expect(template.options.timeout == .seconds(5))
    }

    @Test func `list modifiers add in order, also around another decorator`() throws {
        func names(_ template: some RequestTemplate) -> [Int?] {
            template.options.validators.map { ($0 as? Named)?.name }
        }
        let one = TestEndpoint("a").validated(by: Named(name: 1)).validated(by: Named(name: 2), Named(name: 3))
        #expect(names(one) == [1, 2, 3])
        #expect(names(one.header("X", "1").validated(by: Named(name: 4))) == [1, 2, 3, 4])
    }

    @Test func `a template sets its own options, and a modifier replaces them`() throws {
        var options = HTTPRequestOptions()
        options.timeout = .seconds(1)
        options.markIdempotent(key: "k")
        let template = TestEndpoint("a").with { $0.options = options }
        #expect(try StandardRequestBuilder(template).request().timeout == .seconds(1))
        #expect(try StandardRequestBuilder(template.timeout(nil)).request().timeout == nil)
        #expect(try StandardRequestBuilder(template.timeout(nil)).request().isIdempotent)
    }

    @Test func `a body and accepted statuses replace the template's own`() throws {
        let template = TestEndpoint("a").with { $0.body = TextBody("old") }.body(TextBody("new")).header("X", "1")
        #expect(try StandardRequestBuilder(template).request().body.encode() == Data("new".utf8))
        let accepting = base.accepting([404]).accepting([200, 410]).header("X", "1")
        let request = try StandardRequestBuilder(accepting).request()
        #expect([200, 404, 410].map { request.accepts(HTTPStatus($0)) } == [true, false, true])
    }

    @Test func `parts are sent between the template's boundary`() throws {
        let template = TestEndpoint("a").with { $0.boundary = "b0undary" }.multipart([.text("v", name: "n")])
        let request = try StandardRequestBuilder(template.header("X", "1")).request()
        let text = String(decoding: try request.body.encode(), as: UTF8.self)
        #expect(text.hasPrefix("--b0undary\r\n") && text.hasSuffix("\r\n--b0undary--\r\n"))
        #expect(request.framedHeaders()[.contentType] == "multipart/form-data; boundary=b0undary")
    }

    @Test func `without a boundary one is created, and does not change`() throws {
        let template = TestEndpoint("a").multipart([.text("v", name: "n")])
        let first = try StandardRequestBuilder(template).request()
        let second = try StandardRequestBuilder(template).request()
        #expect(try first.body.encode() == second.body.encode() && first.framedHeaders() == second.framedHeaders())
    }

    @Test func `no description of a decorated template contains a secret`() {
        let template = TestEndpoint("marker").query("token", "SECRET").header("Authorization", "SECRET").with(
            parameters: ["password": "SECRET"])
        var dumped = ""
        dump(template, to: &dumped)
        for text in ["\(template)", String(reflecting: template), dumped] {
            #expect(!text.contains("SECRET") && text.contains("marker"))
        }
    }
}

extension RequestTemplate {
    fileprivate func with(parameters: RequestParameters) -> WithParameters<Self> {
        WithParameters(base: self, parameters: parameters)
    }
}

private struct WithParameters<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    let parameters: RequestParameters
}

@Suite struct PaginatedRowsTests {
    private func request(_ template: some RequestTemplate) throws -> HTTPRequest {
        try StandardRequestBuilder(template).request()
    }

    private let base = TestEndpoint("a", answering: [Int].self).with { $0.query = ["sort": "x"] }

    @Test func `a page is requested in addition to the template's own parameters`() throws {
        #expect(try request(base.paginated(page: 3)).query.escaped == "sort=x&page=3")
        #expect(try request(base.paginated(page: 3, key: "p")).query.escaped == "sort=x&p=3")
    }

    @Test func `a template's own page takes precedence, and is sent once`() throws {
        let pinned = base.with { $0.parameters = ["page": 7] }
        #expect(try request(pinned.paginated(page: 2)).query.escaped == "sort=x&page=7")
        let query = base.with { $0.query = ["page": 7] }
        #expect(try request(query.paginated(page: 2).requestForNextPage()).query.escaped == "page=7")
    }

    @Test func `the next page is a new value`() throws {
        let first = base.paginated()
        let second = first.requestForNextPage()
        #expect(try request(second).query.escaped == "sort=x&page=2")
        #expect(try request(first).query.escaped == "sort=x&page=1" && second.page == 2)
    }

    @Test func `pagination can be applied inside and outside of other decorators`() throws {
        let inside = base.paginated().header("X", "1").query("k", 1)
        #expect(try request(inside.requestForNextPage()).query.escaped == "sort=x&page=2&k=1")
        #expect(try request(inside.requestForNextPage()).headers == ["X": "1"])
        let outside = base.header("X", "1").query("k", 1).paginated()
        #expect(try request(outside.requestForNextPage()).query.escaped == "sort=x&k=1&page=2")
        #expect(try request(outside.requestForNextPage()).headers == ["X": "1"])
    }

    @Test func `the page of a POST is one of its JSON parameters`() throws {
        let template = base.with { ($0.method, $0.parameters) = (.post, ["name": "x"]) }
        let built = try request(template.paginated(page: 2))
        #expect(built.query.escaped == "sort=x")
        let object = try JSONSerialization.jsonObject(with: built.body.encode()) as? [String: Any]
        #expect(object?["page"] as? Int == 2 && object?["name"] as? String == "x")
    }

    @Test func `the page of a HEAD, and of a POST without parameters, is in the query`() throws {
        let post = base.with { ($0.method, $0.body) = (.post, TextBody("t")) }
        #expect(try request(post.paginated(page: 2)).query.escaped == "sort=x&page=2")
        let head = base.with { ($0.method, $0.parameters) = (.head, ["name": "x"]) }
        let built = try request(head.paginated(page: 2))
        #expect(built.query.contains("page") && built.body.isEmpty)
    }

    private func body(_ template: some RequestTemplate) throws -> MultipartBody {
        try #require(try StandardRequestBuilder(template).request().body as? MultipartBody)
    }

    @Test func `parts are added to those of a template, with its subtype and boundary`() throws {
        let own = MultipartBody([.text("1", name: "a")], subtype: "mixed")
        let body = try body(TestEndpoint("a").with { $0.body = own }.multipart(adding: [.text("2", name: "b")]))
        #expect(body.parts.count == 2 && body.subtype == "mixed" && body.boundary == own.boundary)
        let text = String(decoding: try body.encode(), as: UTF8.self)
        #expect(text.contains("name=\"a\"\r\n\r\n1\r\n") || text.contains("\r\n\r\n1\r\n"))
        #expect(text.contains("\r\n\r\n2\r\n"))
    }

    @Test func `parts are added to parts that a modifier set, and are the body of a template without one`() throws {
        let template = TestEndpoint("a").with { $0.boundary = "b0undary" }
        let both = template.multipart([.text("1", name: "a")]).header("x", "y").multipart(adding: [
            .text("2", name: "b")
        ])
        #expect(try body(both).parts.count == 2 && body(both).boundary == "b0undary")
        let alone = try body(template.multipart(adding: [.text("2", name: "b")]))
        #expect(alone.parts.count == 1 && alone.boundary == "b0undary")
    }

    @Test func `parts cannot be added to another body`() throws {
        let template = TestEndpoint("a").with { $0.body = TextBody("text") }.multipart(adding: [.text("2", name: "b")])
        let request = try StandardRequestBuilder(template).request()
        let error = #expect(throws: HTTPError.self) { try request.framedBody() }
        #expect(error?.code == .invalidRequest && error?.message.contains("not a MultipartBody") == true)
    }
}
