// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead
    @testable import LetterheadStreaming
    @testable import LetterheadTransfers

    /// A parser of bytes that a server sends: a function to feed it, samples to mutate, and pieces to duplicate.
    struct Reader: Sendable {
        let name: String
        let samples: [String]
        let hostile: [String]
        /// What opens and closes a level, for readers of what is nested.
        var nested: [(open: String, close: String)] = []
        let read: @Sendable ([UInt8]) -> Void

        static let all =
            [
                links, challenges, mediaTypes, filenames, urls, queries, pages, openJSON, headers, dates, events,
                values, parts, responses,
            ]
            + state + exchanges + products

        /// What each reader must read in linear time: marks, escapes, separators and depth.
        static let pieces = ["\u{301}\u{316}", #"\u0301"#, "%CC%81", "\",", "=;", "\r\n", #"[{"a":"#]

        static let events = Reader(
            name: "event stream",
            samples: [
                ": ping\r\ndata: {\"text\":\"gr\u{FC}\"}\r\n\r\nid: 1\nevent: add\ndata\ndata:  a\n\nretry: 50\rdata: b\r\r",
                "\u{FEFF}data: YHOO\ndata: +2\ndata: 10\n\nid: 2\u{0}\ndata: x\n\nid\ndata: y\n\n",
            ],
            hostile: [
                "\n", "\r", "\r\n", "data\n", "data: a\n\n", ":\n\n", "id: 1\n", "a", ":", "event: a\n\n", "\n\r",
            ]
        ) { bytes in
            let (whole, parts) = (
                try? EventStreamParser.events(in: bytes, piecesOf: .max, limit: 1 << 20),
                try? EventStreamParser.events(in: bytes, piecesOf: 1 + bytes.count % 7, limit: 1 << 20)
            )
            guard whole == parts else { fatalError("an event stream depends on where it is cut") }
            _ = try? EventStreamParser.events(in: bytes, piecesOf: 5, limit: 16)
        }

        static let values = Reader(
            name: "JSON values",
            samples: [
                #"[{"a":1,"b":"]},{\"[\\"},{"a":[[],{"d":[]}]},-1.5e3, true ,null,"x"]"#, "{\"a\":1}\n\r\n[2]\n3",
                "\u{1E}{\"a\":\n1}\n\u{1E}\u{1E}2\n\u{1E}\"x\"",
            ],
            hostile: ["[", ",", "1,", "\"", "\\", "{}", "\n", "1\n", "\u{1E}", "\u{1E}1\n", " "]
        ) { bytes in
            for format in [HTTPResponseBody.JSONFormat.automatic, .lines, .textSequence, .array] {
                let whole = JSONValueSplitter.texts(in: bytes, format: format, piecesOf: .max, limit: 1 << 20)
                let parts = JSONValueSplitter.texts(
                    in: bytes, format: format, piecesOf: 1 + bytes.count % 7, limit: 1 << 20)
                guard whole == parts else {
                    fatalError("\(format) values depend on where \(bytes) is cut: \(whole), \(parts)")
                }
                _ = JSONValueSplitter.texts(in: bytes, format: format, piecesOf: 3, limit: 4)
            }
        }

        static let parts = Reader(
            name: "multipart",
            samples: [
                "preamble\r\n--b\r\nContent-ID: <1>\r\na: b\r\n c\r\n\r\none\r\n--b \t\r\n\r\n\r\n--b--\r\nepilogue",
                "--b\na: 1\n\n--bc\n--b\n\ntwo\r\n--b\n\n--b--", "--b\r\n\r\n\r\r\n--b--x\r\n--b\rx\r\n--b--",
            ],
            hostile: ["\r\n--b", "\r\n--b ", "\r\n--b\r\n\r\n", "\r", "\r\n", "a: b\r\n", "\r\n----b\r\n"]
        ) { bytes in
            // Also inside a part, because a preamble is short, and with a camera's boundary.
            for bytes in [bytes, Array("--b\r\n\r\n".utf8) + bytes] {
                for boundary in ["b", "--b"] {
                    let (whole, parts) = (
                        texts(of: bytes, boundary, piecesOf: .max),
                        texts(of: bytes, boundary, piecesOf: 1 + bytes.count % 7)
                    )
                    guard whole == parts else {
                        fatalError("a multipart body depends on where \(bytes) is cut: \(whole), \(parts)")
                    }
                }
            }
        }

        /// Each part's head and bytes, then the fault, if any.
        private static func texts(of bytes: [UInt8], _ boundary: String, piecesOf size: Int) -> [String] {
            var parser = MultipartParser(boundary: boundary, partLimit: 1 << 20, headLimit: 1 << 14)
            var (texts, body, isPart): ([String], [UInt8], Bool) = ([], [], false)
            do {
                var start = 0
                while true {
                    while let event = try parser.next() {
                        switch event {
                        case .head(let headers):
                            texts.append(headers.description)
                            (body, isPart) = ([], true)
                        // Nothing reads a preamble.
                        case .bytes(let piece): body += isPart ? piece : Data()
                        case .endOfPart: texts.append(text(body))
                        case .end: return texts
                        }
                    }
                    let count = min(size, bytes.count - start)
                    if count == 0 { parser.finish() }
                    parser.append(Data(bytes[start..<start + count]))
                    start += count
                }
            } catch {
                return texts + [text(body), error.message]
            }
        }

        static let links = Reader(
            name: "Link",
            samples: [
                "<https://a.example/?page=2>; rel=\"next\", <x>; rel=last", "<../x>;rel=next;title*=UTF-8''%e2%82%ac",
                "<a>; rel=\"prev next\"; anchor=\"#f\"; title=\"a \\\"b\\\", c\"",
            ],
            hostile: ["<", "<>;", "<a>;a=\"", ",,,,", "\\\"", "<a>; rel=next,", ";;;;", "<a>;\t \t "]
        ) { bytes in
            let response = HTTPResponse(request: start, status: 200, headers: ["Link": text(bytes)])
            _ = response.links.prefix(8).map { ($0.target, $0.relations.contains("next")) }
        }

        static let challenges = Reader(
            name: "WWW-Authenticate",
            samples: [
                "Digest realm=\"a \\\"b\\\", c\", qop=\"auth, auth-int\", algorithm=SHA-256, nonce=\"YQ==\", Basic realm=x",
                "Negotiate YII+/~._-==, NTLM, Bearer realm=https://a.example/token, scope=\"a b\"",
            ],
            hostile: [
                ",", " ", "a", "a ", "a,", "a b,", "a=b,", "a b=c,", "a=\"b\",", "\"", "\\\"", "=", "a = b ", "a=\"",
                "a b==, ",
            ]
        ) { bytes in
            let response = HTTPResponse(request: start, status: 401, headers: ["WWW-Authenticate": text(bytes)])
            let challenges = response.challenges
            guard challenges.allSatisfy({ $0 == $0 && !$0.scheme.isEmpty && $0["realm"] == $0["REALM"] }) else {
                fatalError("a challenge of \(text(bytes).debugDescription) has no scheme")
            }
        }

        static let mediaTypes = Reader(
            name: "Content-Type",
            samples: [
                "text/html; charset=\"utf-8\"; a=b", "application/vnd.api+json", "multipart/form-data; boundary=x",
            ],
            hostile: ["a/b;", "\"", "a/b;c=\"\\", ";a=b", "/", "a"]
        ) { bytes in
            let type = MediaType(text(bytes))
            _ = type?["charset"]
            _ = type?.isJSON
        }

        static let filenames = Reader(
            name: "Content-Disposition",
            samples: [
                "attachment; filename=\"a \\\"b.tar.gz\"; filename*=UTF-8''na%C3%AFve%20..%2Fa.txt",
                "filename=..\\a;a=b",
                "a;filename=\"=?UTF-8?Q?-=2E?= =?iso-8859-1?b?LmE=?=\"",
                "a;filename*0*=UTF-8''%C3;filename*1*=%A9;filename*2=.",
                "inline;filename = %2e%2e%2F\u{202E}\u{1F388}.exe ; filename*=ISO-8859-1'en'%E9",
            ],
            hostile: [
                "a;filename=", ";", "\"", "\\", ".", "/", "%", "%2E", "'", "a;filename*=UTF-8''%", "=?UTF-8?Q?=?= ",
                "\u{FEFF}",
                "-",
            ]
        ) { bytes in
            let prefixes = ["", "a;filename=", "a;filename*=UTF-8''", "a;filename*0*=UTF-8''", "a;filename==?UTF-8?q?"]
            for value in prefixes.map({ $0 + text(bytes) }) {
                let response = HTTPResponse(request: start, status: 200, headers: ["Content-Disposition": value])
                guard let name = response.suggestedFilename else { continue }
                let isSafe = !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(UInt8(ascii: "\\"))
                let isHidden = name.unicodeScalars.first?.properties.isDefaultIgnorableCodePoint == true
                guard isSafe, !isHidden, name.utf8.first != UInt8(ascii: "-"), name.utf8.first != UInt8(ascii: "."),
                    (1...255).contains(name.utf8.count)
                else {
                    fatalError("the filename \(name.debugDescription) is not safe")
                }
            }
        }

        static let urls = Reader(
            name: "URL",
            samples: [
                "https://u:p@a.example:8080/x/../y;z?q=%20&r#f", "//b.example", "?x=1", "../../x", "http://[::1]:80/",
            ],
            hostile: ["../", "/", "a:", "@", "?", "#", "%", "./", "[", "a/"]
        ) { bytes in
            let base = URLParts("https://a.example/b/c?d")
            let target = base.resolving(URLParts(text(bytes)))
            _ = target.string
            _ = target.hostAndPort
            var request = HTTPRequest(method: .get, url: URL(filePath: "/"))
            request.host = target.hostAndPort?.host
            try? request.validate()
        }

        static let queries = Reader(
            name: "query", samples: ["a=1&b=%20&c", "a[b]=1&=x&&", "%zz=%&a=é"],
            hostile: ["&", "=", "%", "a=b&", "%20", "+"]
        ) { bytes in
            let query = QueryParameters(escaped: text(bytes))
            _ = query.escaped
            _ = query.description
        }

        static let pages = Reader(
            name: "JSON page",
            samples: [
                #"{"items":[1,2],"next":"/a?b=c","n":9007199254740993,"x":null,"y":[{"z":-1.5e3}]}"#,
                #"{"type":"about:blank","title":"x","status":403,"more":{"a":[true,false]}}"#,
            ],
            hostile: [], nested: [("[", "]"), (#"{"a":"#, "}")]
        ) { bytes in
            var response = HTTPResponse(
                request: HTTPRequest(), status: 422, headers: ["Content-Type": "application/problem+json"])
            response.body = HTTPResponseBody(Data(bytes))
            _ = HTTPError(.unacceptableStatus, request: HTTPRequest(), response: response).problem
            _ = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
            _ = try? JSONDecoder().decode(ProblemDetails.self, from: Data(bytes))
            _ = try? JSONDecoder().decode(PageCheckpoint.self, from: Data(bytes))
            do { _ = try JSONDecoder().decode(Shape.self, from: Data(bytes)) } catch {
                _ = HTTPError(error, request: HTTPRequest()).description
            }
        }

        /// JSON without outer braces. JSON5 is not among the readers, because it is only for servers that the caller
        /// trusts.
        static let openJSON = Reader(
            name: "JSON without outer braces",
            samples: ["\"a\":1234567890123.25", "\"a\":[1e5, -12", "\"é\":1", "123456789012345678901234567890"],
            hostile: []
        ) { bytes in
            let decoder = JSONDecoder()
            decoder.assumesTopLevelDictionary = true
            var request = HTTPRequest()
            request.decoder = decoder
            let response = HTTPResponse(request: request, status: 422, body: HTTPResponseBody(Data(bytes)))
            let error = HTTPError(.unacceptableStatus, request: request, response: response)
            _ = error.failure(as: Double.self)
            _ = error.failure(as: [String: Double].self)
            _ = error.failure(as: JSONValue.self)
        }

        /// What a page is expected to be, so that what it is instead is told.
        private struct Shape: Decodable {
            var items: [Int]
            var y: [[String: String]]
            var n: UInt8
        }

        static let headers = Reader(
            name: "redaction", samples: [#"{"token":"a","b":{"password":1}}"#, "token=a&b=c", "https://u:p@h/?key=1"],
            hostile: ["\"", "{\"token\":", "&", "=", "\\", "https://a@", "\"token\":\"a\\"]
        ) { bytes in
            var request = HTTPRequest()
            request.headers["X"] = text(bytes)
            request.body = TextBody(text(bytes))
            _ = request.description
        }

        static let dates = Reader(
            name: "date",
            samples: [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                "Fri, 31 Dec 9999 23:59:59 GMT", "120", "99999999999999999999",
            ],
            hostile: ["0", " ", "-", ":", "Sun, ", "9"]
        ) { bytes in
            _ = HTTPDate.seconds(of: text(bytes), now: 1_800_000_000)
            var headers = HTTPHeaders()
            headers.append("Retry-After", text(bytes))
            _ = headers.retryAfter(now: Date(timeIntervalSince1970: 1_800_000_000))
        }

        static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    }
#endif
