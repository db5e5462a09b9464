// SPDX-License-Identifier: MIT
import Foundation
import XCTest

@testable import Forecasts

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The tests of the library, with the `URLProtocol` that they had before the library ran over Letterhead.
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
final class ForecastsTests: XCTestCase {
    private final class Sky: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func stopLoading() {}

        override func startLoading() {
            let city = request.value(forHTTPHeaderField: "X-City")
            let head = HTTPURLResponse(
                url: request.url!, statusCode: city == "Nowhere" ? 404 : 200, httpVersion: nil, headerFields: nil)!
            client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("rain in \(city ?? "")\n\nwind\n".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    private var forecasts: Forecasts {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Sky.self]
        return Forecasts(base: URL(string: "https://sky.test")!, session: URLSession(configuration: configuration))
    }

    func testAForecastIsReturned() async throws {
        let today = try await forecasts.today(in: "Kiel")
        XCTAssertEqual(today, "rain in Kiel\n\nwind\n")
    }

    func testAStatusIsThrown() async {
        do {
            _ = try await forecasts.today(in: "Nowhere")
            XCTFail("the status was accepted")
        } catch {
            XCTAssertEqual(error as? Forecasts.Failure, .status(404))
        }
    }

    func testACallbackReceivesTheForecast() {
        let called = expectation(description: "called")
        forecasts.today(in: "Kiel") { result in
            XCTAssertEqual(try? result.get().count, 19)
            called.fulfill()
        }
        wait(for: [called], timeout: 10)
    }

    func testWarningsArriveLineByLine() async throws {
        var lines: [String] = []
        for try await line in forecasts.warnings(in: "Kiel") { lines.append(line) }
        XCTAssertEqual(lines, ["rain in Kiel", "wind"])
    }
}
