// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadCaching
    import LetterheadOAuth
    import LetterheadObserving
    import LetterheadResilience
    import LetterheadSigning
    @testable import LetterheadTransfers

    extension Reader {
        /// What a client does with a response: it follows redirects and links, and reads tokens, limits and timings.
        static let exchanges = [redirects, signedRedirects, nextLinks, cursors, tokens, fields, uploads]

        static let uploads = Reader(
            name: "upload response",
            samples: ["min-size=0, max-append-size=9;a=b, max-age=?1", "?0", "1.0.0, 0.2.2", "8", "*/*, a/b"],
            hostile: [",", "max-size=", "-", "9999999999999999999", ";", "\"", "?1"]
        ) { bytes in
            let names = [
                "Upload-Limit", "Upload-Complete", "Upload-Offset", "Upload-Draft-Interop-Version", "Tus-Version",
            ]
            var headers = HTTPHeaders()
            for name in names + ["Tus-Max-Size", "Accept-Patch"] { headers.append(HTTPHeaders.Name(name), text(bytes)) }
            for kind in UploadProtocol.all { _ = kind.isAnnounced(headers) || kind.isConfirmed(headers) == true }
            let response = HTTPResponse(request: start, status: 200, headers: headers)
            let numbers = response.uploadLimits.values + [headers.count(of: "Upload-Offset") ?? 0]
            guard numbers.allSatisfy({ $0 >= 0 }) else { fatalError("a server's number of bytes is negative") }
            _ = response.isUploadComplete
        }

        static let redirects = Reader(
            name: "Location", samples: ["/b/../c?d=e#f", "https://a.example/b", "../\u{E9}", "//a.example:443/"],
            hostile: ["/", "../", "?", "%"]
        ) { bytes in
            run { request in
                request.target == "/start" ? (302, ["Location": text(bytes)], Data()) : (200, [:], Data())
            } use: {
                _ = try? await $0.send(start)
            }
        }

        /// The URL of a server in the canonical form that AWS signs.
        static let signedRedirects = Reader(
            name: "signed redirect",
            samples: ["/b/../c?d=e&a=%20+&a", "?X-Amz-Date=1&%zz=\u{E9}&", "./%2e%2E/;x/*'()//"],
            hostile: ["/", "../", "?", "%", "&", "=", "a=b&", "+"]
        ) { bytes in
            for service in ["s3", "execute-api"] {
                let credentials = AWSCredentials(accessKey: "a", secretKey: "b")
                let signer = AWSSigner(service: service, region: "r", credentials: .fixed(credentials))
                let answer: Answer = { request in
                    request.target == "/start" ? (302, ["Location": text(bytes)], Data()) : (200, [:], Data())
                }
                run(answer, signing: .signing(by: signer)) { _ = try? await $0.send(start) }
            }
        }

        static let nextLinks = Reader(
            name: "next link",
            samples: ["/list?page=2", "https://api.example.com/list?a=\u{E9}&b", "?c", "//\u{E9}.example"],
            hostile: ["/", "a=b&", "?", "../"]
        ) { bytes in walk(List(path: "start").paginated(by: .nextURL(\.next)), next: text(bytes)) }

        static let cursors = Reader(name: "cursor", samples: ["a", "MQ==", "\u{E9}"], hostile: ["=", "%"]) { bytes in
            walk(List(path: "start").paginated(by: .cursor(\.next, parameter: "after")), next: text(bytes))
        }

        static let tokens = Reader(
            name: "token response", samples: ["read write", "invalid_grant", "bearer"], hostile: [" ", "a "]
        ) { bytes in
            for status in [200, 400] {
                let signing = HTTPAuthentication.oauth2(
                    client: OAuth2.Client(id: "a"), tokenEndpoint: api.appending(path: "token"),
                    grant: .clientCredentials()
                )
                let answer: Answer = { request in
                    guard request.target == "/token" else { return (200, [:], Data()) }
                    let members = [
                        "access_token": "a", "token_type": "bearer", "scope": text(bytes), "error": text(bytes),
                    ]
                    return (status, [:], try? JSONEncoder().encode(members))
                }
                run(answer, signing: signing) { _ = try? await $0.send(start) }
            }
        }

        static let fields = Reader(
            name: "header fields",
            samples: [
                "db;dur=53;desc=\"a, \\\"b\"", "\"default\";r=5;t=30", "limit=10, remaining=3, reset=20", "6m0.5s",
                "@1659578233",
                "gzip, br", "W/\"a\"", "close, X", "true", "a=1;b, c=%20",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            ],
            hostile: [";", ",", "=", "\"", "\\", "a;", "1h", "-"]
        ) { bytes in
            let names = [
                "Server-Timing", "Deprecation", "RateLimit", "X-RateLimit-Remaining-Tokens", "X-RateLimit-Reset-Tokens",
                "X-Should-Retry", "Content-Encoding", "Content-Range", "Connection", "ETag", "X-Request-ID",
            ]
            let headers = HTTPHeaders(names.map { HTTPHeaders.Field(HTTPHeaders.Name($0), text(bytes)) })
            run { _ in
                (503, headers, Data())
            } use: {
                guard let response = try? await $0.send(start) else { return }
                (_, _) = (response.headers.serverTimings, response.headers.deprecation)
                _ = response.description
            }
            _ = TraceContext(traceparent: text(bytes), tracestate: text(bytes), baggage: text(bytes))
            _ = Set([headers, HTTPHeaders(headers.reversed())])
        }

        private struct List: RequestTemplate {
            struct Response: Decodable, Sendable { var next: String? }
            var path: RequestPath
        }

        private typealias Answer = @Sendable (HTTPRequest) -> (status: Int, headers: HTTPHeaders, body: Data?)

        private static func walk(_ pages: Paginated<List>, next: String) {
            run { request in
                (200, [:], try? JSONEncoder().encode(request.target == "/start" ? ["next": next] : [:]))
            } use: { client in
                var pages = client.pages(of: pages, settings: PageSettings(pageLimit: 4)).makeAsyncIterator()
                while let page = try? await pages.next() { _ = page.checkpoint }
            }
        }

        private static let api = URL(string: "https://api.example.com") ?? URL(filePath: "/")
        static let start = HTTPRequest(url: api.appending(path: "start"))

        /// Runs a client over a transport of this process, and waits for it.
        private static func run(
            _ answer: @escaping Answer, signing: HTTPAuthentication? = nil,
            use: @escaping @Sendable (HTTPClient) async -> Void
        ) {
            let isDone = DispatchSemaphore(value: 0)
            Task {
                await use(
                    HTTPClient(
                        environment: ServerEnvironment(baseURL: api), authentication: signing, cookies: CookieJar(),
                        cache: ResponseCache(store: .memory(bytes: 1 << 20)),
                        attemptLinks: LimitRate(backoff: Backoff(longestServerDelay: .zero)),
                        transport: Transport(answer: answer)))
                isDone.signal()
            }
            isDone.wait()
        }

        private struct Transport: HTTPLoader {
            let answer: Answer

            func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
                let (status, headers, body) = answer(request)
                var response = HTTPResponse(request: request, status: HTTPStatus(status), headers: headers)
                response.body = HTTPResponseBody(body ?? Data())
                return response
            }
        }
    }
#endif
