// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Odd: Error {}

@Suite struct HTTPErrorTests {
    private func request(_ text: String = "https://h/harmless?token=SECRET&q=SECRET") throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: text)))
    }

    @Test func `the description has the failure, the URL, and the remedy, on one line`() throws {
        let error = HTTPError(.timedOut, request: try request(), message: "no answer within 1 s")
        #expect("\(error)" == "timedOut: GET https://h/harmless?token=…&q=…: no answer within 1 s")
    }

    @Test func `the description has the status and the number of attempts`() throws {
        let request = try request("https://h/p")
        let attempts = [HTTPRequest.Attempt(number: 1), HTTPRequest.Attempt(number: 2)]
        let error = HTTPError(
            .unacceptableStatus, request: request, response: HTTPResponse(request: request, status: 503),
            attempts: attempts)
        #expect("\(error)" == "unacceptableStatus: GET https://h/p answered 503 Service Unavailable after 2 attempts")
    }

    @Test func `the localized description is the same text`() throws {
        let error: any Error = HTTPError(.timedOut, request: try request(), message: "no answer")
        #expect(error.localizedDescription == "\(error)")
    }

    @Test func `codes are an open set`() {
        let own = HTTPError.Code(rawValue: "quotaExceeded")
        #expect(own.description == "quotaExceeded" && own != .unknown)
    }

    @Test func `all codes of the library are distinct`() {
        let codes: [HTTPError.Code] = [
            .cancelled, .invalidRequest, .cannotConnect, .connectionLost, .insecureConnection, .cannotAuthenticate,
            .timedOut, .invalidResponse, .responseTooLarge, .cannotDecodeResponse, .unacceptableStatus,
            .validationFailed, .emptyResponse, .retriesExhausted, .tooManyRedirects, .paginationLoop,
            .reportedFailure, .resetInProgress, .unknown,
        ]
        #expect(Set(codes).count == codes.count)
    }

    @Test func `a copy can be changed`() throws {
        let error = HTTPError(
            .timedOut, request: try request(), underlying: Odd(), message: "m", mayHaveBeenSent: false)
        let changed = error.with(attempts: [HTTPRequest.Attempt(number: 1)])
        #expect(changed.code == .timedOut && changed.attempts.count == 1 && changed.message == "m")
        #expect(changed.underlying is Odd)
        #expect(!changed.mayHaveBeenSent && error.attempts.isEmpty)
    }

    @Test func `an invalid request was certainly not sent`() throws {
        #expect(!HTTPError(.invalidRequest, request: try request()).mayHaveBeenSent)
        #expect(HTTPError(.connectionLost, request: try request()).mayHaveBeenSent)
    }
}

@Suite struct HTTPErrorMappingTests {
    #if Foundation || canImport(Darwin)
        @Test(
            arguments: [
                (.cancelled, .cancelled), (.userCancelledAuthentication, .cancelled), (.badURL, .invalidRequest),
                (.unsupportedURL, .invalidRequest), (.requestBodyStreamExhausted, .invalidRequest),
                (.cannotFindHost, .cannotConnect), (.cannotConnectToHost, .cannotConnect),
                (.networkConnectionLost, .connectionLost), (.dnsLookupFailed, .cannotConnect),
                (.notConnectedToInternet, .cannotConnect), (.httpTooManyRedirects, .tooManyRedirects),
                (.redirectToNonExistentLocation, .invalidResponse), (.cannotLoadFromNetwork, .cannotConnect),
                (.internationalRoamingOff, .cannotConnect), (.callIsActive, .cannotConnect),
                (.dataNotAllowed, .cannotConnect), (.secureConnectionFailed, .insecureConnection),
                (.serverCertificateHasBadDate, .insecureConnection), (.serverCertificateUntrusted, .insecureConnection),
                (.serverCertificateHasUnknownRoot, .insecureConnection),
                (.serverCertificateNotYetValid, .insecureConnection), (.clientCertificateRejected, .insecureConnection),
                (.clientCertificateRequired, .insecureConnection),
                (.appTransportSecurityRequiresSecureConnection, .insecureConnection),
                (.userAuthenticationRequired, .cannotAuthenticate), (.timedOut, .timedOut),
                (.badServerResponse, .invalidResponse), (.cannotParseResponse, .invalidResponse),
                (.zeroByteResource, .invalidResponse), (.resourceUnavailable, .invalidResponse),
                (.dataLengthExceedsMaximum, .responseTooLarge), (.cannotDecodeRawData, .cannotDecodeResponse),
                (.cannotDecodeContentData, .cannotDecodeResponse),
                (.downloadDecodingFailedMidStream, .cannotDecodeResponse),
                (.downloadDecodingFailedToComplete, .cannotDecodeResponse), (.unknown, .unknown),
                (.fileDoesNotExist, .invalidRequest), (.fileIsDirectory, .invalidRequest),
                (.noPermissionsToReadFile, .invalidRequest), (.cannotCreateFile, .cannotSaveResponse),
                (.cannotOpenFile, .cannotSaveResponse), (.cannotCloseFile, .cannotSaveResponse),
                (.cannotWriteToFile, .cannotSaveResponse), (.cannotRemoveFile, .cannotSaveResponse),
                (.cannotMoveFile, .cannotSaveResponse),
            ] as [(URLError.Code, HTTPError.Code)])
        func `a URLError has the corresponding code`(foundation: URLError.Code, code: HTTPError.Code) {
            let error = HTTPError(URLError(foundation), request: HTTPRequest())
            #expect(error.code == code && (error.underlying as? URLError)?.code == foundation)
        }

        @Test func `a request whose body fails while it is sent may have been sent`() {
            #expect(HTTPError(URLError(.requestBodyStreamExhausted), request: HTTPRequest()).mayHaveBeenSent)
            #expect(!HTTPError(URLError(.badURL), request: HTTPRequest()).mayHaveBeenSent)
        }
    #endif

    @Test func `cancellation, coding and unknown errors have their codes`() {
        let request = HTTPRequest()
        let context = EncodingError.Context(codingPath: [], debugDescription: "")
        #expect(HTTPError(CancellationError(), request: request).code == .cancelled)
        #expect(HTTPError(EncodingError.invalidValue(1, context), request: request).code == .invalidRequest)
        let corrupted = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
        #expect(HTTPError(corrupted, request: request).code == .cannotDecodeResponse)
        #expect(HTTPError(Odd(), request: request).code == .unknown)
        #expect(HTTPError(Odd(), request: request).underlying is Odd)
    }

    @Test func `an HTTPError is not changed, except that a missing response is added`() {
        let request = HTTPRequest()
        let error = HTTPError(.timedOut, request: request, message: "m")
        let mapped = HTTPError(error, request: HTTPRequest(), response: HTTPResponse(request: request, status: 200))
        #expect(mapped.code == .timedOut && mapped.request.id == request.id && mapped.response?.status == .ok)
    }

    @Test func `a decoding error is described by path and reason, never by value`() throws {
        struct User: Decodable { struct Inner: Decodable { let age: Int }; let list: [Inner] }
        let thrown = try #require(throws: (any Error).self) {
            try JSONDecoder().decode(User.self, from: Data(#"{"list":[{"age":"SECRET"}]}"#.utf8))
        }
        let text = "\(HTTPError(thrown, request: HTTPRequest()))"
        #expect(text.contains("list[0].age") && text.contains("Int") && !text.contains("SECRET"))
    }
}
