// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct HTTPMethodTests {
    @Test func `any text is a method, and keeps its case`() {
        let method: HTTPMethod = "PURGE"
        #expect(method.rawValue == "PURGE" && method == HTTPMethod("PURGE") && HTTPMethod("get") != .get)
    }

    @Test(
        arguments: [
            (.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.patch, "PATCH"), (.delete, "DELETE"),
            (.options, "OPTIONS"), (.trace, "TRACE"), (.connect, "CONNECT"), (.query, "QUERY"),
        ] as [(HTTPMethod, String)])
    func `the registered names are spelled as they are sent`(method: HTTPMethod, text: String) {
        #expect(method.description == text)
    }

    @Test(
        arguments: [
            (.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true),
            (.query, true, true), (.put, false, true), (.delete, false, true), (.post, false, false),
            (.patch, false, false), (.connect, false, false), ("PURGE", false, false), ("get", false, false),
        ] as [(HTTPMethod, Bool, Bool)])
    func `safe methods, PUT and DELETE are idempotent, and nothing is assumed of any other method`(
        method: HTTPMethod, isSafe: Bool, isIdempotent: Bool
    ) { #expect(method.isSafe == isSafe && method.isIdempotent == isIdempotent) }
}
