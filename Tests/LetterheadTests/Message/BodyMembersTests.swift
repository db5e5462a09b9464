import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct HeadersAsDictionary: HTTPBody {
    let additionalHeaders: [String: String] = ["Content-Type": "text/plain"]
    func encode() -> Data { Data("x".utf8) }
}

private struct LengthThatIsNotOptional: HTTPBody {
    var contentLength: Int { 1 }
    func encode() -> Data { Data("x".utf8) }
}

private struct EncodesBytes: HTTPBody {
    func encode() -> [UInt8] { [1] }
}

private struct Right: HTTPBody {
    var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
    let contentLength: Int? = 1
    func encode() throws -> Data { Data("x".utf8) }
}

/// No member of a body is ignored because of its type.
@Suite struct BodyMembersTests {
    private func request(_ body: any HTTPBody) throws -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: try #require(URL(string: "https://h.example")))
        request.body = body
        return request
    }

    @Test(
        arguments: [
            (HeadersAsDictionary(), "additionalHeaders", "HTTPHeaders"),
            (HeadersAsDictionary().compressed(), "additionalHeaders", "HTTPHeaders"),
            (MultipartBody([.body(HeadersAsDictionary(), name: "a")]), "additionalHeaders", "HTTPHeaders"),
            (LengthThatIsNotOptional(), "contentLength", "Int?"),
            (EncodesBytes(), "encode()", "Data"),
        ] as [(any HTTPBody, String, String)])
    func `a member of another type is refused before anything is sent`(
        body: any HTTPBody, member: String, required: String
    ) async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 200) }
        let request = try request(body)
        let error = try await #require(throws: HTTPError.self) {
            _ = try await HTTPClient(transport: mock).send(request)
        }
        #expect(error.code == .invalidRequest)
        #expect(error.message.hasPrefix("the body is refused: the member \(member) of "))
        #expect(error.message.hasSuffix("declare it as \(required)"))
        #expect(mock.requests.isEmpty)
    }

    @Test func `a body with the right types is sent`() throws {
        try request(Right()).validate()
        try request(Right().compressed()).validate()
    }
}
