// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

/// A decorator forwards all members that it does not declare, and its own members are used as declared.
struct RequestDecoratorInferenceTests {
    struct Post: RequestTemplate {
        typealias Response = [Int]
        typealias Failure = String
        var method: HTTPMethod { .post }
        var path: RequestPath { "x" }
        var body: some HTTPBody { JSONBody([1]) }
    }

    struct Plain<Base: RequestTemplate>: RequestDecorator { let base: Base }
    struct OtherBody<Base: RequestTemplate>: RequestDecorator {
        let base: Base
        var body: DataBody { DataBody(Data([1])) }
    }
    struct SomeBody<Base: RequestTemplate>: RequestDecorator {
        let base: Base
        var body: some HTTPBody { DataBody(Data([1])) }
    }
    struct OtherResponse<Base: RequestTemplate>: RequestDecorator {
        let base: Base
        func decode(_ response: HTTPResponse) async throws -> Int { 3 }
    }

    private func types<Template: RequestTemplate>(of template: Template) -> [String] {
        ["\(Template.Body.self)", "\(Template.Response.self)", "\(Template.Failure.self)"]
    }

    @Test func `by default, body, response and failure are those of the base`() {
        #expect(types(of: Plain(base: Post())) == ["EncodedBody", "Array<Int>", "String"])
        let decorated = Post().header("a", "b").query("c", 1).paginated()
        #expect(types(of: decorated) == ["EncodedBody", "Array<Int>", "String"])
    }

    @Test func `the body of a decorator is sent`() throws {
        #expect(types(of: OtherBody(base: Post())).first == "DataBody")
        #expect(try StandardRequestBuilder(OtherBody(base: Post())).request().body is DataBody)
        #expect(try StandardRequestBuilder(SomeBody(base: Post())).request().body is DataBody)
        #expect(try StandardRequestBuilder(Post().multipart([])).request().body is MultipartBody)
        #expect(try StandardRequestBuilder(Post().body(DataBody(Data()))).request().body is DataBody)
    }

    @Test func `a decorator decodes the response itself`() {
        #expect(types(of: OtherResponse(base: Post())) == ["EncodedBody", "Int", "String"])
        #expect(types(of: Post().paginated().unwrapping(\.count).header("a", "b")) == ["EncodedBody", "Int", "String"])
    }
}
