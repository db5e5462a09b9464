// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct NotABody: RequestTemplate {
    typealias Response = Person
    var path: RequestPath { "a" }
    var method: HTTPMethod { .post }
    var body: Int { 1 }
}

private struct OptionalBody: RequestTemplate {
    typealias Response = Person
    var path: RequestPath { "a" }
    var method: HTTPMethod { .post }
    var body: TextBody?
}

private struct NotDecodable: Sendable, Equatable {
    var text: String
}

private struct DecodedByItself: RequestTemplate {
    var path: RequestPath { "a" }
    func decode(_ response: HTTPResponse) async throws -> NotDecodable {
        NotDecodable(text: try await response.decode(Person.self).login)
    }
}

/// Counts persons instead of the person that the base cannot decode.
private struct Counted<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    func decode(_ response: HTTPResponse) async throws -> Int { 7 }
}

@Suite struct AnyTemplateTests {
    private let ada = Person(id: 1, login: "ada")
    private let mock = MockLoader { try .ok($0, json: Person(id: 1, login: "ada")) }
    private var client: HTTPClient { HTTPClient(environment: .of("https://h.test"), transport: mock) }

    @Test func `a wrapped template is sent as the template itself`() async throws {
        // All that it loses are the pages of a template, and the type of its failures.
        for laws in [
            DecoratorLaws(changing: [.failure, .page]) { AnyTemplate($0) },
            DecoratorLaws(changing: [.failure, .page]) { AnyTemplate(AnyTemplate($0)) },
        ] { #expect(await laws.violations().map(\.law) == ["pages"]) }
    }

    @Test func `a template can be changed under a condition, and kept in a list`() async throws {
        for isTraced in [true, false] {
            var request = AnyTemplate(Get<Person>("a"))
            if isTraced { request = AnyTemplate(request.header("X-Trace", "1").query("q", 2)) }
            #expect(try await client.send(request) == ada)
        }
        let list = [AnyTemplate(Get<Person>("b")), AnyTemplate(Post<Person>("c", body: TextBody("x")))]
        for template in list { #expect(try await client.send(template.timeout(.seconds(600))) == ada) }
        #expect(mock.requests.map(\.target) == ["/a?q=2", "/a", "/b", "/c"])
        #expect(mock.requests.map { $0.headers["X-Trace"] } == ["1", nil, nil, nil])
        #expect(mock.requests.map(\.method) == [.get, .get, .get, .post])
    }

    @Test func `a wrapped template can be paginated, sent in parts and streamed`() async throws {
        let pages = MockLoader { request in
            try .ok(request, json: request[query: "page"] == "2" ? [] : [Person(id: 1, login: "ada")])
        }
        let client = HTTPClient(environment: .of("https://h.test"), transport: pages)
        var count = 0
        for try await _ in client.items(of: AnyTemplate(Get<[Person]>("a")).paginated()) { count += 1 }
        #expect(count == 1)
        let part = AnyTemplate(Post<Person>("a").multipart([.text("b", name: "c")])).multipart(adding: [
            .text("d", name: "e")
        ])
        let body = try #require(try StandardRequestBuilder(part).request().body as? MultipartBody)
        #expect(body.parts.count == 2)
        #expect(try await client.stream(AnyTemplate(Get<Person>("a"))).status == .ok)
    }

    @Test func `an invalid template is refused in its wrapper, too, before anything is sent`() async throws {
        let unknown = Get<[Person]>("a").paginated(by: .linkHeader).requestForNextPage()
        func error<Template: RequestTemplate>(_ template: Template) async throws -> HTTPError {
            try await #require(throws: HTTPError.self) { _ = try await client.send(template) }
        }
        let position = try await error(AnyTemplate(AnyTemplate(unknown).header("a", "b")).query("c", 1))
        #expect(try await position.message.hasSuffix(error(unknown).message) && position.code == .invalidRequest)
        let body = try await error(AnyTemplate(NotABody()))
        #expect(body.code == .invalidRequest && "\(body)".contains("the body has type Int, which is not an HTTPBody"))
        #expect(mock.requests.isEmpty)
    }

    @Test func `a decorator that decodes something else needs nothing that its template decodes`() async throws {
        #expect(try await client.send(Counted(base: AnyTemplate(DecodedByItself()))) == 7)
    }

    @Test func `a body that is nil is empty`() async throws {
        #expect(try await client.send(AnyTemplate(OptionalBody(body: nil))) == ada)
        #expect(mock.requests.first?.body.isEmpty == true)
    }
}
