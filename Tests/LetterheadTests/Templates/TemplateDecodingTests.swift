// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct NotDecodable: Sendable, Equatable {}

/// A template with a response of any type.
private struct Unconstrained<Response: Sendable>: RequestTemplate {
    var path: RequestPath { "a" }
}

private struct Decoded<Response: Decodable & Sendable>: RequestTemplate {
    var path: RequestPath { "a" }
}

private struct Numbers: RequestTemplate {
    typealias Response = [Int]
    var path: RequestPath { "a" }
}

private struct Nothing: RequestTemplate {
    typealias Response = Void
    var path: RequestPath { "a" }
}

private struct Plain: RequestTemplate {
    var path: RequestPath { "a" }
}

private struct DecodedByItself: RequestTemplate {
    var path: RequestPath { "a" }
    func decode(_ response: HTTPResponse) async throws -> NotDecodable { NotDecodable() }
}

private struct DecodableDecodedByItself: RequestTemplate {
    var path: RequestPath { "a" }
    func decode(_ response: HTTPResponse) async throws -> Int { try await response.body.data().count }
}

private struct Wrapper<Base: RequestTemplate>: RequestDecorator {
    let base: Base
}

private struct WrapperOfDecodable<Base: RequestTemplate>: RequestDecorator where Base.Response: Decodable {
    let base: Base
}

private struct WrapperOfNumbers: RequestDecorator {
    let base: Numbers
}

private struct OtherResponse<Base: RequestTemplate>: RequestDecorator {
    typealias Response = [String]?
    let base: Base
}

/// The compiler chooses how a response is decoded.
@Suite struct TemplateDecodingTests {
    private let mock = MockLoader { HTTPResponse(request: $0, status: 200, body: HTTPResponseBody(Data("[1]".utf8))) }

    private func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await HTTPClient(environment: .of("https://h.example"), transport: mock).send(template)
    }

    @Test func `a template decodes its response type, also inside decorators`() async throws {
        #expect(try await send(Numbers()) == [1])
        #expect(try await send(Decoded<[Int]?>()) == [1])
        #expect(try await send(Numbers().header("a", "b").paginated()) == [1])
        #expect(try await send(Wrapper(base: WrapperOfDecodable(base: Numbers()))) == [1])
        #expect(try await send(WrapperOfNumbers(base: Numbers())) == [1])
        #expect(try await send(AnyTemplate(Wrapper(base: Numbers())).query("a", 1)) == [1])
        #expect(try await send(Numbers().unwrapping(\.count)) == 1)
        #expect(try await send(Decoded<Data>()) == Data("[1]".utf8))
        #expect(try await send(Decoded<String?>()) == "[1]")
    }

    @Test func `a template without a response type returns the response, and one without a value returns nothing`()
        async throws
    {
        #expect(try await send(Plain().header("a", "b")).status == 200)
        #expect(try await send(Unconstrained<HTTPResponse?>())?.status == 200)
        #expect(try await send(Unconstrained<any Sendable>()) is HTTPResponse)
        try await send(Nothing())
        try await send(Nothing().header("a", "b"))
        try await send(AnyTemplate(Nothing()))
        #expect(try await send(Unconstrained<Void?>()) != nil)
    }

    @Test func `a template that decodes by itself may have any response type`() async throws {
        #expect(try await send(DecodedByItself()) == NotDecodable())
        #expect(try await send(AnyTemplate(DecodedByItself().header("a", "b"))) == NotDecodable())
        #expect(try await send(Wrapper(base: DecodableDecodedByItself())) == 3)
        #expect(try await send(WrapperOfDecodable(base: DecodableDecodedByItself())) == 3)
    }

    @Test func `a decorator with another response type decodes that type`() async throws {
        let error = try await #require(throws: HTTPError.self) { _ = try await send(OtherResponse(base: Numbers())) }
        #expect(error.message == "decoding Optional<Array<String>>: [0]: expected String, found a number")
    }

    @Test func `a response type that is not Decodable is an error that names the type and the remedy`() async throws {
        for template in [
            Unconstrained<NotDecodable?>(), Unconstrained<NotDecodable>().header("a", "b"),
            AnyTemplate(Unconstrained<NotDecodable>()), Unconstrained<[NotDecodable]>(),
            Unconstrained<NotDecodable>().unwrapping(\.self),
        ] as [any RequestTemplate] {
            let error = try await #require(throws: HTTPError.self) { _ = try await send(template) }
            #expect(error.code == .cannotDecodeResponse && error.response?.status == 200)
            #expect(error.message.contains("NotDecodable"))
            #expect(error.message.hasSuffix("is not Decodable, so the template must implement decode(_:)"))
        }
    }

    /// The same error as for a conformance that is isolated to an actor, which `Examples/main-actor` shows.
    @Test func `a conformance that the template cannot use is an error that names the remedy`() async throws {
        let error = try await #require(throws: HTTPError.self) { _ = try await send(Unconstrained<[Int]>()) }
        #expect(error.code == .cannotDecodeResponse)
        #expect(
            error.message
                == "the template does not know that Array<Int> is Decodable (in a generic template, require "
                + "Decodable, and if an actor isolates the conformance, declare the model nonisolated)")
    }

    @Test func `a template that is streamed or built needs no decoder`() async throws {
        let client = HTTPClient(environment: .of("https://h.example"), transport: mock)
        _ = try await client.stream(Unconstrained<NotDecodable>())
        _ = try StandardRequestBuilder(Unconstrained<NotDecodable>()).request()
    }
}
