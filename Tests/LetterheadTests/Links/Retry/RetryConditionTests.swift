// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct RetryConditionTests {
    private func context(
        _ status: HTTPStatus? = nil, _ code: HTTPError.Code? = nil, earlier: [HTTPStatus] = []
    ) -> Retry.Context {
        let request = HTTPRequest()
        let result: Result<HTTPResponse, HTTPError> =
            if let code {
                .failure(HTTPError(code, request: request))
            } else {
                .success(HTTPResponse(request: request, status: status ?? .ok))
            }
        let attempts = earlier.enumerated().map { HTTPRequest.Attempt(number: $0.offset + 1, status: $0.element) }
        return Retry.Context(request: request, result: result, attempts: attempts)
    }

    @Test(arguments: [
        (200, false), (204, false), (304, false), (400, false), (401, false), (404, false), (408, true), (409, false),
        (413, false), (421, false), (425, true), (429, true), (500, true), (501, false), (502, true), (503, true),
        (504, true), (505, false), (507, false), (599, false),
    ]) func `the standard condition holds for temporary statuses`(code: Int, holds: Bool) {
        #expect(Retry.Condition.standard.holds(in: context(HTTPStatus(code))) == holds)
    }

    @Test(arguments: [
        (HTTPError.Code.cannotConnect, true), (.connectionLost, true), (.timedOut, true), (.cancelled, false),
        (.invalidRequest, false), (.insecureConnection, false), (.invalidResponse, false), (.tooManyRedirects, false),
        (.cannotDecodeResponse, false), (.validationFailed, false), (.resetInProgress, false),
        (.cannotAuthenticate, false), (.responseTooLarge, false), (.unknown, false),
    ]) func `the standard condition holds for failures of the network only`(code: HTTPError.Code, holds: Bool) {
        #expect(Retry.Condition.standard.holds(in: context(nil, code)) == holds)
    }

    @Test func `a second 408 is not retried`() {
        #expect(!Retry.Condition.standard.holds(in: context(408, earlier: [408])))
        #expect(Retry.Condition.standard.holds(in: context(408, earlier: [503])))
    }

    @Test func `conditions check statuses and failures`() {
        #expect(Retry.Condition.statuses([404]).holds(in: context(404)))
        #expect(!Retry.Condition.statuses([404]).holds(in: context(nil, .timedOut)))
        #expect(Retry.Condition.failures([.timedOut]).holds(in: context(nil, .timedOut)))
        #expect(!Retry.Condition.failures([.timedOut]).holds(in: context(404)))
    }

    @Test(arguments: [true, false], [true, false]) func `one of two conditions is enough`(left: Bool, right: Bool) {
        let (one, other) = (Retry.Condition { _ in left }, Retry.Condition { _ in right })
        #expect((one || other).holds(in: context()) == (left || right))
    }
}
