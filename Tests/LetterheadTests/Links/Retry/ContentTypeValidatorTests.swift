// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct ContentTypeValidatorTests {
    private func message(
        _ types: [String], _ given: String?, status: HTTPStatus = .ok, body: String = "x", method: HTTPMethod = .get,
        allowsMissing: Bool = false
    ) -> String? {
        let request = HTTPRequest().with { $0.method = method }
        var response = HTTPResponse(request: request, status: status, body: HTTPResponseBody(Data(body.utf8)))
        response.headers[.contentType] = given
        let validator = ContentTypeValidator(types, allowsMissing: allowsMissing)
        guard case .failChain(let error) = validator.validate(response: response, forRequest: request) else {
            return nil
        }
        let failure = HTTPError(error, request: request)
        return failure.code == .validationFailed ? failure.message : "\(failure.code)"
    }

    @Test(arguments: [
        ("application/json", "application/json", true), ("application/json", "Application/JSON; charset=utf-8", true),
        ("application/*+json", "application/problem+json", true), ("application/*+json", "application/json", false),
        ("text/*", "text/html", true), ("text/*", "application/json", false), ("*/*", "x/y", true),
        ("application/json", "text/html", false), ("application/*+json", "application/+json", false),
        ("application/json", "nonsense", false), ("application/json", "application/jsonx", false),
    ]) func `a response whose type matches no pattern fails`(pattern: String, given: String, fits: Bool) {
        #expect((message([pattern], given) == nil) == fits)
    }

    @Test func `the failure names the received and the expected types`() {
        #expect(
            message(["application/json", "text/csv"], "text/html; charset=utf-8")
                == "the media type of the body is text/html, expected application/json or text/csv")
    }

    @Test func `a missing type fails unless it is allowed`() {
        #expect(message(["application/json"], nil) != nil)
        #expect(message(["application/json"], nil, allowsMissing: true) == nil)
        #expect(message(["application/json"], "nonsense", allowsMissing: true) != nil)
    }

    @Test func `errors, empty bodies and responses to HEAD are not checked`() {
        #expect(message(["application/json"], "text/html", status: 502) == nil)
        #expect(message(["application/json"], "text/html", body: "") == nil)
        #expect(message(["application/json"], "text/html", method: .head) == nil)
    }
}
