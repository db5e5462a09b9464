// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite struct URLErrorTests {
        private let request = HTTPRequest(host: "a.test", path: "x")

        @Test(
            arguments: [
                (.cancelled, .cancelled), (.invalidRequest, .badURL), (.cannotConnect, .cannotConnectToHost),
                (.insecureConnection, .secureConnectionFailed), (.connectionLost, .networkConnectionLost),
                (.cannotAuthenticate, .userAuthenticationRequired), (.timedOut, .timedOut),
                (.invalidResponse, .badServerResponse), (.responseTooLarge, .dataLengthExceedsMaximum),
                (.cannotDecodeResponse, .cannotDecodeContentData), (.tooManyRedirects, .httpTooManyRedirects),
                (.cannotSaveResponse, .cannotWriteToFile),
            ] as [(HTTPError.Code, URLError.Code)])
        func `a code that Foundation has is converted in both directions`(
            code: HTTPError.Code, foundation: URLError.Code
        ) {
            let error = HTTPError(code, request: request).urlError
            #expect(error.code == foundation && HTTPError(error, request: request).code == code)
        }

        @Test(
            arguments: [
                (.unacceptableStatus, .badServerResponse), (.validationFailed, .badServerResponse),
                (.resetInProgress, .cancelled), (.proxyRefused, .cannotConnectToHost), (.unknown, .unknown),
            ] as [(HTTPError.Code, URLError.Code)])
        func `any other code becomes the nearest one`(code: HTTPError.Code, foundation: URLError.Code) {
            #expect(URLError(HTTPError(code, request: request)).code == foundation)
        }

        @Test func `the error contains the URL and the original`() throws {
            let original = HTTPError(.timedOut, request: request, message: "the idle timeout passed")
            let error = original.urlError
            #expect(error.failingURL == URL(string: "https://a.test/x"))
            #expect((error.userInfo[NSUnderlyingErrorKey] as? HTTPError)?.message == "the idle timeout passed")
            #expect(error.localizedDescription == original.description)
        }

        @Test func `a loader's URLError keeps its code, and so does a scheme that isn't HTTP`() {
            let error = HTTPError(URLError(.notConnectedToInternet), request: request)
            #expect(error.code == .cannotConnect && error.urlError.code == .notConnectedToInternet)
            let file = request.with { $0.scheme = "ftp" }
            #expect(HTTPError(.invalidRequest, request: file).urlError.code == .unsupportedURL)
        }

        #if os(Linux)
            @Test(
                arguments: [
                    ("http://nowhere.invalid", .cannotFindHost), ("http://127.0.0.1:1", .cannotConnectToHost),
                ] as [(String, URLError.Code)])
            func `libcurl's reason determines the code`(url: String, code: URLError.Code) async throws {
                let error = try await #require(throws: HTTPError.self) { try await HTTPClient().send(HTTPRequest(url)) }
                #expect(error.code == .cannotConnect && error.urlError.code == code)
            }

            @Test(
                arguments: [
                    (Certificates.expired, Certificates.expiredKey, .serverCertificateHasBadDate),
                    (Certificates.selfSigned, Certificates.selfSignedKey, .serverCertificateUntrusted),
                ] as [(String, String, URLError.Code)])
            func `the fault of a certificate determines the code`(
                certificate: String, key: String, code: URLError.Code
            ) async throws {
                let running = try await MockServer.secure(MockServer.TLS(certificate: certificate, key: key))
                let client = HTTPClient(transport: HTTPClient.makeTransport(.trusting))
                let error = try await #require(throws: HTTPError.self) {
                    try await client.send(HTTPRequest(url: running.url))
                }
                #expect(error.code == .insecureConnection && error.urlError.code == code)
                await running.stop()
            }
        #endif

        @Test func `a response is converted in both directions`() throws {
            let headers: HTTPHeaders = ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]
            let response = HTTPResponse(request: request, status: .notFound, headers: headers)
            let foundation = try #require(HTTPURLResponse(response))
            #expect(foundation.statusCode == 404 && foundation.url == URL(string: "https://a.test/x"))
            #expect(foundation.mimeType == "text/plain" && foundation.expectedContentLength == -1)
            #expect(foundation.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
            let back = HTTPResponse(foundation, body: HTTPResponseBody(Data("x".utf8)))
            #expect(back.status == .notFound && back.body.buffered == Data("x".utf8))
            #expect(try back.request.urlString() == "https://a.test/x" && back.headers[.contentType] == "text/plain")
            #expect(HTTPURLResponse(HTTPResponse(request: HTTPRequest(), status: .ok)) == nil)
        }

        @Test func `the fields of a body that Foundation has decompressed are removed`() throws {
            let url = try #require(URL(string: "https://a.test/x"))
            let foundation = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil,
                    headerFields: ["Content-Encoding": "gzip", "Content-Length": "9"]))
            #expect(HTTPResponse(foundation).headers.isEmpty)
            var head = request
            head.method = .head
            #expect(HTTPResponse(foundation, to: head).headers[.contentLength] == "9")
        }
    }
#endif
