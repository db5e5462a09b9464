// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct DefaultValidatorTests {
    private func response(_ status: HTTPStatus, method: HTTPMethod = .get, body: String = "") -> HTTPResponse {
        let request = HTTPRequest().with { $0.method = method }
        return HTTPResponse(request: request, status: status, body: HTTPResponseBody(Data(body.utf8)))
    }

    private func delay(_ result: HTTPValidatorResult) -> Duration? {
        if case .retry(let strategy) = result { strategy.delay(before: 1) } else { nil }
    }

    @Test func `429 waits three seconds, and the other retriable statuses back off`() {
        let validator = DefaultValidator()
        for status in [408, 425, 500, 502, 503, 504, 529].map({ HTTPStatus($0) }) {
            #expect(delay(validator.validate(response: response(status), forRequest: HTTPRequest())) == .seconds(1))
        }
        #expect(delay(validator.validate(response: response(429), forRequest: HTTPRequest())) == .seconds(3))
        #expect(validator.retriableStatuses.count == 8)
    }

    @Test func `its map can be edited`() {
        var validator = DefaultValidator(retriableStatuses: [504: .immediate])
        validator.retriableStatuses[404] = .delayed(.seconds(9))
        #expect(delay(validator.validate(response: response(504), forRequest: HTTPRequest())) == .zero)
        #expect(delay(validator.validate(response: response(404), forRequest: HTTPRequest())) == .seconds(9))
        #expect(delay(validator.validate(response: response(429), forRequest: HTTPRequest())) == nil)
    }

    @Test(
        arguments: [
            (.timedOut, .seconds(1)), (.cannotConnect, .seconds(1)), (.connectionLost, .seconds(1)),
            (.invalidRequest, nil), (.insecureConnection, nil), (.cancelled, nil), (.invalidResponse, nil),
        ] as [(HTTPError.Code, Duration?)])
    func `a retry is suggested after failures of the network, and after no others`(
        code: HTTPError.Code, wait: Duration?
    ) {
        let failure = HTTPError(code, request: HTTPRequest())
        #expect(delay(DefaultValidator().validate(failure: failure, forRequest: failure.request)) == wait)
    }

    @Test func `its failures and their strategy can be replaced`() {
        let validator = DefaultValidator(retriableFailures: [.invalidResponse], failureStrategy: .delayed(.seconds(9)))
        let broken = HTTPError(.invalidResponse, request: HTTPRequest())
        #expect(delay(validator.validate(failure: broken, forRequest: broken.request)) == .seconds(9))
        let lost = HTTPError(.connectionLost, request: HTTPRequest())
        #expect(delay(validator.validate(failure: lost, forRequest: lost.request)) == nil)
    }

    @Test(arguments: [
        (200, HTTPMethod.get, "", true), (200, .get, "x", false), (201, .post, "", true), (204, .get, "", false),
        (205, .post, "", false), (304, .get, "", false), (200, .head, "", false), (404, .get, "", false),
    ]) func `an empty response fails if a body is expected and empty responses are not allowed`(
        status: Int, method: HTTPMethod, body: String, fails: Bool
    ) {
        let response = response(HTTPStatus(status), method: method, body: body)
        let result = DefaultValidator(allowsEmptyResponses: false)
            .validate(response: response, forRequest: response.request)
        if case .failChain(let error) = result {
            #expect(fails && HTTPError(error, request: response.request).code == .emptyResponse)
        } else {
            #expect(!fails)
        }
        guard case .nextValidator = DefaultValidator().validate(response: response, forRequest: response.request) else {
            Issue.record("an empty response is allowed by default")
            return
        }
    }

    @Test func `a retriable status takes precedence over an empty response`() {
        let validator = DefaultValidator(retriableStatuses: [200: .immediate], allowsEmptyResponses: false)
        #expect(delay(validator.validate(response: response(200), forRequest: HTTPRequest())) == .zero)
    }
}
