// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct HTTPMethodTests {
    @Test func `any text is a method, and keeps its case`() {
        let method: HTTPMethod = "PURGE"
        #expect(method.rawValue == "PURGE")
        #expect(method == HTTPMethod("PURGE"))
        #expect(HTTPMethod("get") != .get)
    }

    @Test(
        arguments: [
            (.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.patch, "PATCH"), (.delete, "DELETE"),
            (.options, "OPTIONS"), (.trace, "TRACE"), (.connect, "CONNECT"), (.query, "QUERY"),
        ] as [(HTTPMethod, String)])
    func `the registered names are spelled as they are sent`(method: HTTPMethod, text: String) {
        #expect(method.description == text)
    }

    @Test(arguments: [.get, .head, .options, .trace, .query] as [HTTPMethod])
    func `a safe method is idempotent`(method: HTTPMethod) {
        #expect(method.isSafe)
        #expect(method.isIdempotent)
    }

    @Test(arguments: [.put, .delete] as [HTTPMethod])
    func `PUT and DELETE are idempotent and not safe`(method: HTTPMethod) {
        #expect(!method.isSafe)
        #expect(method.isIdempotent)
    }

    @Test(arguments: [.post, .patch, .connect, "PURGE", "get"] as [HTTPMethod])
    func `nothing is assumed of any other method`(method: HTTPMethod) {
        #expect(!method.isSafe)
        #expect(!method.isIdempotent)
    }
}
