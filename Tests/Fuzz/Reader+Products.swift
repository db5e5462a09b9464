// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead
    @testable import LetterheadContracts
    @testable import LetterheadRecording
    import LetterheadRelay
    @testable import LetterheadSigning
    @testable import LetterheadTransfers

    extension Reader {
        /// The readers of decoded types, of archives, of signatures and keys, of batches and of relays.
        static let products = [
            decodedTypes, archives, signatures, structuredFields, keys, innerHeads, partResponses, relayMessages,
        ]

        private struct Named: Decodable {
            var name: String?
        }

        static let decodedTypes = Reader(
            name: "decoded type",
            samples: [#"{"name":"ada","tags":["a\u0301"],"n":1.5e3}"#, #"[{"na\u006de":"\uD83D\uDE00"}]"#, "a"],
            hostile: [#"\u0301"#, #"\""#, #"\\"#, "\",\"", "\":", "\u{E9}"],
            nested: [("[", "]"), (#"{"a":"#, "}")]
        ) { bytes in
            // As a document, and as the name of a member.
            for text in [Data(bytes), Data(#"{""#.utf8) + bytes + Data(#"":1}"#.utf8)] {
                _ = try? JSONDecoder().value(of: Named.self, from: text)
                _ = try? JSONDecoder().value(of: [String: String].self, from: text)
                _ = JSONText.string(in: text)
                ContractReading.$current.withValue(ContractReading()) {
                    _ = try? JSONDecoder().value(of: ContractRoot<[String: Named]>.self, from: text)
                }
            }
        }

        /// What is redacted and searched before it is written to an archive, and the archive itself.
        static let archives = Reader(
            name: "archive",
            samples: [
                #"{"token":"a","b":{"password":1},"u":"https://u:p@h/?key=1"}"#, "token=a&b=%7B%22key%22%3A1%7D&c",
                "data: {\"token\":\"a\"}\n\nBearer eyJhbGciOi.eyJzdWIi.c",
                "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\na\r\n--b--\r\n",
                #"{"log":{"entries":[{"request":{"method":"GET","url":"/"},"response":{"status":200}}]}}"#,
            ],
            hostile: [
                "\"", "{\"token\":", "&", "=", "https://a@", "\r\n--b\r\n", "eyJ", "Bearer ", "/bot", "{\n", "%25",
            ],
            nested: [("[", "]"), (#"{"a":"#, "}")]
        ) { bytes in
            // Redacting and searching take long, so a part of a large input is enough to measure their growth.
            let input = bytes.count > 8_000 ? Array(bytes.prefix(bytes.count / 16)) : bytes
            let (whole, name) = (Data(input), Data(#"{""#.utf8) + input + Data(#"":1}"#.utf8))
            // As a body, and as the name of a member.
            for (body, type) in [
                (whole, "text/plain"), (whole, "multipart/form-data; boundary=b"), (name, "application/json"),
                (whole, MediaType.form.essence),
            ] {
                var entry = HAR.Entry(request: HAR.Request(method: "GET", url: "https://h/"), response: HAR.Response())
                entry.response.headers = [HAR.Field(name: "X-A", value: text(input))]
                entry.response.content = HAR.Content(mimeType: type, text: body.base64EncodedString())
                entry.response.content?.encoding = "base64"
                _ = ArchiveRedaction.standard.findings(in: entry, "a")
                _ = try? JSONDecoder().value(of: HAR.self, from: body)
            }
        }

        static let signatures = Reader(
            name: "message signature",
            samples: [
                #"sig1=("@status" "content-digest";req "a";key="b");created=1618884473;keyid="k";alg="ed25519""#,
                "sig1=:YWJj:, sha-256=:YQ==:", "t=1614265330,v1=abc v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ],
            hostile: ["(", "\"a\" ", "a=", ";a", ", ", ":YQ==:", "\\\"", "v1=a,", "a=(\"@query-param\";name=\"a\"), "]
        ) { bytes in
            _ = StructuredValue.strict([text(bytes)])
            let names: [HTTPHeaders.Name] = ["Signature", "Signature-Input", "Content-Digest", "webhook-signature"]
            var headers = HTTPHeaders(names.map { HTTPHeaders.Field($0, text(bytes)) })
            headers.append("webhook-timestamp", "1614265330")
            let response = HTTPResponse(request: start, status: 200, headers: headers)
            wait { _ = try? await MessageVerifier(requiring: ["@status"]) { _ in nil }.verify(response) }
            try? Webhook.standard("whsec_AAAA").verify(Data(bytes), headers: headers)
            try? Webhook.timestamped("a", header: "webhook-signature").verify(Data(), headers: headers)
        }

        static let structuredFields = Reader(
            name: "structured field",
            samples: [
                #"a=1, b=("x" y;q=0.5 "\\\"");c=?0;d, e;f=:YWJj:, a=?1;g"#, "tea, (sugar;a 1);b=2, *t/k:x",
                "-12.50, @-1, ?1",
            ],
            hostile: ["(", "a=", ";a", ", ", ":YQ==:", "\\\"", "1", "a", "(a ", "a, ", "?1"]
        ) { bytes in
            guard let strict = StructuredValue.strict([text(bytes)]) else { return }
            // Longer fields are refused.
            guard strict.utf8.count > 16_384 || StructuredValue.strict([strict]) == strict else {
                fatalError("the serialization \(strict) of \(text(bytes)) is serialized differently")
            }
            _ = StructuredValue.dictionary([text(bytes), strict])
        }

        static let keys = Reader(
            name: "signature key",
            samples: [
                #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
                #"{"kty":"EC","crv":"P-256","d":"AQ"}"#,
                #"{"Version":1,"AccessKeyId":"a","SecretAccessKey":"b","Expiration":"2026-01-01T00:00:00Z"}"#,
                "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n",
            ],
            hostile: ["-----", "\n", "MC4C", "A", #""d":"A","#]
        ) { bytes in
            _ = try? SignatureKey(jwk: Secret(text(bytes)))
            _ = try? SignatureKey(pem: Secret(text(bytes)))
            _ = try? AWSCredentials(processOutput: Data(bytes))
        }

        static let innerHeads = Reader(
            name: "inner head",
            samples: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\na: b\r\n c\r\n\r\nhi", "HTTP/1.1 304 \n\n"],
            hostile: ["a:\n", "\r\n", "a: b\r\n", " a\n", "HTTP/1.1 200 ", "\r"]
        ) { bytes in
            for text in [bytes, Array("HTTP/1.1 200 OK\r\n".utf8) + bytes] {
                let response = HTTPResponse(
                    request: start, status: 200, headers: ["Content-Type": "application/http"],
                    body: HTTPResponseBody(Data(text)))
                wait { _ = try? await ResponsePart(response: response, headLimit: 16 << 10).httpResponse() }
            }
        }

        static let partResponses = Reader(
            name: "multipart response",
            samples: [
                "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b\r\nContent-Length: 2\r\n\r\n{}\r\n--b--\r\n",
                "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nhi\r\n--b--",
            ],
            hostile: ["\r\n--b\r\n\r\n", "\r\n--b\r\n", "A: b\r\n", "\r\n", "\r\n--b--"]
        ) { bytes in
            let response = HTTPResponse(
                request: start, status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"],
                body: HTTPResponseBody(Data(bytes)))
            wait {
                var parts = response.parts(partLimit: 1_000).makeAsyncIterator()
                while let part = try? await parts.next() {
                    _ = part.name
                    if part.headers[.contentType] == "application/http" {
                        _ = try? await part.httpResponse()
                    } else {
                        _ = try? await part.body.data()
                    }
                }
            }
        }

        static let relayMessages = Reader(
            name: "relay message",
            samples: [
                #"{"length":2,"letterhead":1,"response":{"headers":[["A","b"]],"status":200}}"# + "\nhi",
                #"{"letterhead":1,"request":{"headers":[],"settings":{"route":"a"},"target":{"path":"/a","query":""}}}"#
                    + "\n",
            ],
            hostile: [#"["A","b"],"#, #""a":1,"#, "\\u0301", "\n"]
        ) { bytes in
            _ = try? WireForm().request(from: Data(bytes))
            _ = try? WireForm().response(from: Data(bytes), to: start)
        }

        private static func wait(_ work: @escaping @Sendable () async -> Void) {
            let isDone = DispatchSemaphore(value: 0)
            Task {
                await work()
                isDone.signal()
            }
            isDone.wait()
        }
    }
#endif
