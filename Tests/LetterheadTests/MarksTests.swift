// SPDX-License-Identifier: MIT
import Foundation
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching
@testable import LetterheadResilience
@testable import LetterheadSigning

/// Text from outside is compared as bytes: Swift compares strings and keys by canonical equivalence, which takes
/// quadratic time in the number of consecutive combining marks. What takes milliseconds here took up to 34 s.
@Suite(.timeLimit(.minutes(3))) struct MarksTests {
    private static func marks(_ bytes: Int) -> String { String(repeating: "\u{301}\u{316}", count: bytes / 4) }

    /// A reader of one text from outside.
    struct Reader: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let read: @Sendable (_ marks: String) -> Void

        init(_ name: String, _ read: @escaping @Sendable (String) -> Void) {
            (testDescription, self.read) = (name, read)
        }
    }

    private static func response(
        _ status: HTTPStatus, _ headers: HTTPHeaders, to url: String = "https://h/a"
    ) -> HTTPResponse {
        HTTPResponse(request: (try? HTTPRequest(url)) ?? HTTPRequest(), status: status, headers: headers)
    }

    static let readers = [
        Reader("a value in a path") { marks in
            let path: RequestPath = "users/\(marks)"
            _ = path == "users/\(marks)x" || Set([path, "a"]).count == 1
        },
        Reader("a raw path") { marks in _ = Set(["\(raw: marks)" as RequestPath, "\(raw: marks)x"]).count },
        Reader("a host") { marks in
            let origins = [HTTPOrigin(scheme: "https", host: marks), HTTPOrigin(scheme: marks, host: marks + "x")]
            _ = Set(origins).count == 1 || origins[0] == origins[1] || origins[0].isSecure
        },
        Reader("the URL of a redirect") { marks in
            for place in ["https://\(marks)/", "/\(marks)", marks, "?\(marks)"] {
                let response = response(302, ["Location": place])
                _ = try? RedirectRules.proposal(for: response.request, response: response, policy: .safely)
            }
        },
        Reader("challenges") { marks in
            let fields = [
                "Basic realm=\"\(marks)\"", "Digest realm=r, nonce=n, qop=\(marks), algorithm=\(marks)", marks,
            ]
            for field in fields {
                let response = response(401, ["WWW-Authenticate": field])
                let other = Self.response(401, ["WWW-Authenticate": field + "x"])
                _ = Set(response.challenges + other.challenges).count
                _ = DigestChallenge.strongest(in: response)
            }
        },
        Reader("media types") { marks in
            for text in ["text/plain; a=\"\(marks)\"; \(marks)=b", "text/\(marks)", marks] {
                let type = MediaType(text)
                _ = type == MediaType(text + "x") || Set([type]).isEmpty
            }
        },
        Reader("links") { marks in
            let field = "<\(marks)>; rel=\"\(marks)\"; \(marks)=a"
            for link in response(200, ["Link": field]).links {
                _ = (link.target, link["anchor"], link.relations == ["next"])
            }
        },
        Reader("cookies") { marks in
            for text in [marks, "a=\(marks)", "a=b; \(marks)=c", "a=b; domain=\(marks)", "a=b; samesite=\(marks)"] {
                _ = response(200, ["Set-Cookie": text]).cookies.count
            }
            let jar = CookieJar()
            for line in [
                "\(marks)\tTRUE\t/\tTRUE\t0\ta\tb", "h\t\(marks)\t/\tTRUE\t0\ta\tb", "h\tTRUE\t/\tTRUE\t0\t\(marks)\tb",
            ] {
                jar.set((try? CookieText.cookies(of: line, at: Date())) ?? [])
                _ = jar.cookies.count
            }
        },
        Reader("headers that control a cache, a rate and a retry") { marks in
            let names = [
                "Cache-Control", "Vary", "Expires", "Age", "Date", "Retry-After", "X-Should-Retry", "RateLimit",
            ]
            for name in names + ["RateLimit-Reset", "Server-Timing", "Deprecation", "Sunset", "Content-Encoding"] {
                let headers = HTTPHeaders([
                    HTTPHeaders.Field(HTTPHeaders.Name(name), marks + "=" + marks + ", " + marks)
                ])
                _ = CacheControl(headers).isEmpty || headers.serverTimings.isEmpty || headers.shouldRetry == true
                _ = (Vary.names(in: headers), headers.deprecation, headers.sunset, headers.retryAfter(now: Date()))
                _ = (
                    RateReport(response(200, headers), now: { Date(timeIntervalSince1970: 0) }), headers.date(of: .date)
                )
                _ = try? ContentDecoder(headers, maximumRatio: 1)
            }
        },
        Reader("a charset") { marks in _ = TextEncoding.encoding(of: marks) },
        Reader("a trace") { marks in
            _ = TraceContext(
                traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: marks,
                baggage: "\(marks)=a,b=\(marks)")
        },
        Reader("a template of a server, and the query that fills it") { marks in
            var request = HTTPRequest()
            request.query = QueryParameters(escaped: "\(marks)=a&\(PercentEncoding.escape(marks, .unreserved))=b")
            _ = URITemplate("/a{?\(marks)}").expansion(of: URITemplate.Values(request.query))
            _ = Redaction.standard.text(of: request.query)
        },
        Reader("JSON") { marks in
            _ = try? JSONText.value(of: Data(#"{"\#(marks)":1}"#.utf8))
            let value = JSONValue.string(marks)
            _ = value == .string(marks + "x") || Set([value]).isEmpty
        },
    ]

    @Test(arguments: readers) func `text of combining marks is read in linear time`(reader: Reader) {
        let text = Self.marks(200_000)
        let seconds = threadTime { reader.read(text) }
        #expect(seconds < 2, "\(reader.testDescription): \(seconds) s")
    }
}
