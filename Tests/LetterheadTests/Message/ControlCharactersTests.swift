// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Page: Decodable, Sendable {
    var next: String?
}

/// What a server writes never ends a line of a log, colors a terminal, or turns the direction of a text.
@Suite struct ControlCharactersTests {
    static let marks = [
        "\n", "\r\n", "\u{1B}[31m", "\u{1B}]0;x\u{7}", "\u{85}", "\u{9B}31m", "\u{2028}", "\u{202E}", "\u{2066}",
    ]

    private func expectClean(_ text: String, lines: Int? = nil, at location: SourceLocation = #_sourceLocation) {
        let controls = text.unicodeScalars.filter {
            $0.properties.generalCategory == .control && $0 != "\n" || [0x2028, 0x202E, 0x2066].contains($0.value)
        }
        #expect(controls.isEmpty, sourceLocation: location)
        if let lines { #expect(text.split(separator: "\n").count == lines, "\(text)", sourceLocation: location) }
    }

    private func response(_ mark: String) throws -> HTTPResponse {
        HTTPResponse(
            request: try HTTPRequest.to("https://a.test/x"), status: 500,
            headers: ["X": "a\(mark)FORGED", "Content-Type": "text/plain; x=\"\(mark)\""],
            body: HTTPResponseBody(Data("a\(mark)FORGED".utf8)))
    }

    @Test(arguments: marks) func `the description of a response has a line for each part of it`(mark: String) throws {
        expectClean("\(try response(mark))", lines: 4)
        expectClean("\(try response(mark).headers)", lines: 2)
    }

    @Test(arguments: marks) func `an error and its excerpt of the body are one line`(mark: String) throws {
        let response = try response(mark)
        let error = HTTPError(
            .validationFailed, request: response.request, response: response, message: "the server wrote a\(mark)FORGED"
        )
        for text in ["\(error)", error.message, error.localizedDescription, error.bodyExcerpt ?? ""] {
            expectClean(text, lines: text.isEmpty ? nil : 1)
        }
    }

    @Test(arguments: marks) func `the description of a media type is one line`(mark: String) throws {
        let type = try #require(MediaType("text/html;\(mark) charset=utf-8; y=\"\(mark)\"; z=1"))
        expectClean(type.description, lines: 1)
        #expect(type.essence == "text/html" && type["z"] == "1")
    }

    @Test(arguments: marks) func `the error of a link to another origin is one line`(mark: String) async throws {
        let link = "https://evil\(mark)FORGED/next"
        let body = try JSONEncoder().encode(["next": link])
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(body)) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let template = TestEndpoint("a", answering: Page.self).paginated(by: .nextURL(\.next))
        let error = await #expect(throws: HTTPError.self) { for try await _ in client.pages(of: template) {} }
        expectClean("\(try #require(error))", lines: 1)
        expectClean("\(HTTPOrigin(scheme: "https", host: "evil\(mark)FORGED"))", lines: 1)
        #expect(mock.requests.count == 1)
    }

    @Test(arguments: marks)
    func `the log of a redirect and of its refusal is one line for each event`(mark: String) async throws {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .found, headers: ["Location": "https://b.test/\(mark)FORGED"])
        }
        let lines = Journal()
        let chain = PrintLoader(write: { lines.write($0) }) --> FollowRedirects(.safely.limit(1)) --> mock
        do {
            let response = try await chain.load(try HTTPRequest.to("https://a.test/x"))
            expectClean("\(response.redirects)")
        } catch {
            expectClean("\(error)", lines: 1)
        }
        for line in lines.all { expectClean(line, lines: 1) }
    }

    @Test(arguments: marks) func `a decoding error is one line`(mark: String) async throws {
        let body = try JSONEncoder().encode(["a\(mark)FORGED": ["id": "x"]])
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, body: HTTPResponseBody(body)) }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let error = await failure { try await client.send(TestEndpoint("a", answering: [String: Person].self)) }
        expectClean("\(try #require(error))", lines: 1)
    }
}
