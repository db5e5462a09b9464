// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead

/// Copies of requests and responses that share their parts are still values.
@Suite struct CopyOnWriteTests {
    @Test func `a change of a copied request is not visible in the other copy`() throws {
        let request = try HTTPRequest(method: .put, "http://user@example.com:81/a?b=c#d")
        var copy = request
        copy.method = .post
        copy.scheme = "https"
        copy.host = "example.org"
        copy.port = 82
        copy.userInfo = nil
        copy.path = "e"
        copy.query["b"] = "f"
        copy.fragment = nil
        copy.headers["G"] = "h"
        copy.body = TextBody("i")
        copy.timeout = .seconds(1)
        #expect(try request.url().absoluteString == "http://user@example.com:81/a?b=c#d")
        #expect(request.method == .put && request.headers.isEmpty && request.body.isEmpty && request.timeout == nil)
        #expect(try copy.url().absoluteString == "https://example.org:82/e?b=f")
        #expect(copy.method == .post && copy.headers["G"] == "h" && !copy.body.isEmpty && copy.timeout == .seconds(1))
        #expect(copy.id == request.id)
    }

    @Test func `a change of a copied response is not visible in the other copy`() throws {
        let response = HTTPResponse(request: try HTTPRequest("http://example.com/"), status: .ok)
        var copy = response
        copy.status = .created
        copy.headers["A"] = "b"
        copy.body = HTTPResponseBody(Data([1]))
        copy.attempts = [HTTPRequest.Attempt(number: 1)]
        copy.request.host = "example.org"
        copy.metrics.bytesSent = 2
        #expect(response.status == .ok && response.headers.isEmpty && response.body.length == 0)
        #expect(response.attempts.isEmpty && response.request.host == "example.com" && response.metrics.bytesSent == 0)
        #expect(copy.status == .created && copy.headers["A"] == "b" && copy.body.length == 1)
        #expect(copy.attempts.count == 1 && copy.request.host == "example.org" && copy.metrics.bytesSent == 2)
    }

    @Test func `a copy of a request or a response is one reference`() {
        #expect(MemoryLayout<HTTPRequest>.size == MemoryLayout<AnyObject>.size)
        #expect(MemoryLayout<HTTPResponse>.size == MemoryLayout<AnyObject>.size)
    }

    @Test func `a header of a request that is not shared is changed in place, and that of a shared one is not`() {
        var request = HTTPRequest()
        request.headers = ["A": "1", "B": "2"]
        let address = address(of: request)
        request.headers["A"] = "3"
        #expect(self.address(of: request) == address)
        let copy = request
        request.headers["A"] = "4"
        #expect(self.address(of: request) != address && self.address(of: copy) == address)
        #expect(copy.headers["A"] == "3" && request.headers["A"] == "4")
    }

    @Test func `a value that reads the request while it is assigned sees the request before the change`() {
        var request = HTTPRequest()
        request.headers["A"] = "1"
        request.headers["A"] = (request.headers["A"] ?? "") + "2"
        request.query["a"] = request.headers["A"]
        #expect(request.headers["A"] == "12" && request.query["a"] == "12")
    }

    @Test func `copies that many tasks change at the same time stay independent`() async {
        let request = HTTPRequest().with { $0.headers["A"] = "0" }
        await withTaskGroup(of: Bool.self) { group in
            for number in 1...64 {
                group.addTask {
                    var copy = request
                    for step in 0..<100 { copy.headers["A"] = "\(number) \(step)" }
                    return copy.headers["A"] == "\(number) 99"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(request.headers["A"] == "0")
    }

    private func address(of request: HTTPRequest) -> UnsafeRawPointer? {
        request.headers.fields.withUnsafeBytes { $0.baseAddress }
    }
}
