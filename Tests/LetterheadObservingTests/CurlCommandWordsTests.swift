// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import LetterheadObserving
    import TestKit
    import Testing

    @testable import Letterhead

    /// Commands as shells read them, and the arguments as curl reads them.
    @Suite(.timeLimit(.minutes(3))) struct CurlCommandWordsTests {
        private static let pieces = [
            "'", "\"", "\\", "\u{301}", "\u{FE0F}", "\u{200D}", "\u{1F3FB}", "'\u{301}", "\"\u{200D}", ";", "=", ",",
            "@",
            "<", "(", " ", "\n", "\t", "\r", "$(id)", "`id`", "&", "|", "#", "!", "-", ";headers=@/f", ";type=a/b",
            ";filename=f", "\"; encoder=x", "/.", "\u{E9}", "\u{1F600}", "a", "0", "{a,b}", "\u{FEFF}", "\u{7F}",
            "\u{0}", "$HOME", "*", "~", ">", "%s", "\\n", "\\0101",
        ]

        @Test(arguments: ["bash", "dash"])
        func `the arguments of a command are those of its request, whatever marks it contains`(shell: String)
            async throws
        {
            var generator = SeededGenerator(seed: 33)
            let requests = try (0..<400).map { _ in try Self.request(&generator) }
            let commands = try await Self.arguments(
                ofCommands: requests.map { $0.curlCommand(includingSecrets: true) }, in: shell)
            #expect(commands.count == requests.count)
            for (request, command) in zip(requests, commands) {
                do { try Self.check(command, request) } catch {
                    Issue.record("\(error): \(request.curlCommand(includingSecrets: true))")
                }
            }
            let redacted = try await Self.arguments(ofCommands: requests.map { $0.curlCommand() }, in: shell)
            #expect(redacted.count == requests.count)
            for command in redacted { _ = try CurlArguments(command.words) }
        }

        @Test(arguments: [
            "text/plain;headers=@/etc/passwd", "text/plain; filename=x", "text/plain;encoder=base64",
            "text/plain; charset=\"a;headers=@/f\"", "text/plain; charset=a,b", "text/plain;charset=utf-8;headers=@/f",
            "text/plain; x=y", "text/plain; type=a/b",
        ])
        func `a form whose part has other parameters than a charset is sent as data`(type: String) throws {
            var request = try HTTPRequest(method: .post, "https://a.test/")
            let part = MultipartBody.Part.text("x", name: "a", headers: ["Content-Type": type])
            request.body = MultipartBody([part], boundary: "b")
            let command = request.curlCommand(includingSecrets: true)
            #expect(!command.contains("--form") && command.contains("Content-Type: multipart/form-data; boundary=b"))
            for plain in ["text/plain", "Text/Plain; charset=UTF-8", "text/plain;charset=\"utf-8\""] {
                request.body = MultipartBody([.text("x", name: "a", headers: ["Content-Type": plain])])
                #expect(request.curlCommand().contains(";type=\(plain)"))
            }
        }

        @Test func `a header whose name cannot be sent names no file`() throws {
            var request = try HTTPRequest("https://a.test/")
            request.headers.append("@/etc/passwd", "x")
            request.headers.append("X-A", "b\r\nX-C: d")
            let command = request.curlCommand(includingSecrets: true)
            #expect(command.contains("'(refused name): x'") && !command.contains("\r") && !command.contains("@"))
        }

        @Test func `a file without a filename is sent without one`() throws {
            var request = try HTTPRequest(method: .post, "https://a.test/")
            request.body = MultipartBody([.body(FileBody(at: URL(filePath: "/tmp/a.txt")), name: "f")])
            #expect(request.curlCommand().contains(#"'f=<"/tmp/a.txt";type=text/plain'"#))
        }

        private static func request(_ generator: inout SeededGenerator) throws -> HTTPRequest {
            func text(_ count: Int = 8) -> String { generator.text(of: pieces, upTo: count) }
            func header() -> String { ASCII.trimmed(text().replacing(/[\n\r\u{7F}\u{0}]/, with: "x")) }
            var request = try HTTPRequest(
                method: .post, "https://a.test/\(PercentEncoding.escape(text(), .unreserved))")
            if Bool.random(using: &generator) { request.path = "/x\(text())/\(text())" }
            request.query.append(text(), text())
            request.headers.append("X-'Name!", header())
            request.headers.append("Authorization", header())
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: request.method = HTTPMethod("P'`|UT")
            case 1: request.body = TextBody(text(20))
            case 2: request.body = DataBody(Data(text(20).utf8) + [0xFF])
            case 3: request.body = FileBody(at: URL(filePath: "/tmp/" + text().replacing("\u{0}", with: "")))
            default:
                request.body = MultipartBody(
                    (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                        let filename = Bool.random(using: &generator) ? text(3) : nil
                        let types: [MediaType?] = [
                            nil, "text/plain", "text/plain; charset=utf-8", "a/b; c=\";headers=@/f\"",
                        ]
                        return .data(
                            Data(text().utf8), name: text(3), filename: filename,
                            contentType: types.randomElement(using: &generator) ?? nil)
                    })
            }
            return request
        }

        /// Checks that curl would send the request.
        private static func check(_ command: (words: [String], input: [UInt8]), _ request: HTTPRequest) throws {
            let arguments = try CurlArguments(command.words)
            try #require(arguments.url == (try request.urlString()))
            try #require(arguments.method == request.method.rawValue)
            var expected = request.framedHeaders().map {
                "\($0.name.rawValue)\($0.value.isEmpty ? ";" : ": \($0.value)")"
            }
            if !arguments.parts.isEmpty { expected.removeAll { $0.hasPrefix("Content-Type:") } }
            let headers = arguments.headers.filter { !$0.hasSuffix(":") || $0.contains(": ") }
            try #require(headers.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
            if let file = request.body as? FileBody {
                try #require(arguments.data.map { Array($0.utf8) } == Array("@\(file.url.path)".utf8))
            } else if let body = request.body as? MultipartBody, !arguments.parts.isEmpty {
                try #require(arguments.parts.count == body.parts.count)
                for (part, sent) in zip(arguments.parts, body.parts) {
                    guard let data = (sent.body as? DataBody)?.data else {
                        throw CurlArguments.Failure("a part is not data")
                    }
                    try #require(Array(data) == Array(part.content.utf8))
                    try #require(part.type == sent.fields.type && part.filename == sent.fields.form?.filename)
                    try #require(Array(part.name.utf8) == Array((sent.fields.form?.name ?? "").utf8))
                }
            } else {
                let sent = arguments.data == "@-" ? command.input : Array((arguments.data ?? "").utf8)
                try #require(sent == Array(try request.body.encode()))
            }
        }

        /// Runs the commands with a function instead of curl, and returns the arguments of each and its input.
        private static func arguments(
            ofCommands commands: [String], in shell: String
        ) async throws -> [(words: [String], input: [UInt8])] {
            let function = """
                curl() {
                    printf '%s\\0' "$#" "$@"
                    case " $* " in *" --data-binary @- "*) od -An -v -tx1 | tr -d ' \\n' ;; esac
                    printf '\\0'
                }
                """
            let script = ([function] + commands).joined(separator: "\n") + "\n"
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).sh")
            try Data(script.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let output = try await ChildProcess.output(of: shell, [file.path])
            var words = output.split(separator: 0, omittingEmptySubsequences: false).dropLast()[...]
            var found: [(words: [String], input: [UInt8])] = []
            while let count = words.popFirst() {
                let number = try #require(Int(String(decoding: count, as: UTF8.self)))
                let own = words.prefix(number).map { String(decoding: $0, as: UTF8.self) }
                words = words.dropFirst(number)
                let digits = Array(String(decoding: words.popFirst() ?? Data(), as: UTF8.self))
                let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
                    UInt8(String(digits[$0...($0 + 1)]), radix: 16)
                }
                found.append((own, bytes))
            }
            return found
        }
    }

    /// The arguments of curl, as curl reads them. An option that no request needs is an error.
    private struct CurlArguments {
        struct Failure: Error, CustomStringConvertible {
            let description: String
            init(_ description: String) { self.description = description }
        }

        struct Part {
            var name = ""
            var content = ""
            var filename: String?
            var type: String?
        }

        var method = "GET"
        var url: String?
        var headers: [String] = []
        var data: String?
        var parts: [Part] = []

        init(_ words: [String]) throws {
            var rest = words[...]
            while let word = rest.popFirst() {
                switch word {
                case "--request": method = rest.popFirst() ?? ""
                case "--header":
                    let header = rest.popFirst() ?? ""
                    if header.utf8.first == UInt8(ascii: "@") { throw Failure("a header names a file") }
                    headers.append(header)
                case "--data-raw", "--data-binary": data = rest.popFirst()
                case "--form-string":
                    let bytes = Array((rest.popFirst() ?? "").utf8)
                    let end = try Self.firstEquals(bytes)
                    parts.append(Part(name: Self.text(bytes[..<end]), content: Self.text(bytes[(end + 1)...])))
                case "--form": parts.append(try Self.part(Array((rest.popFirst() ?? "").utf8)))
                case "--url": url = rest.popFirst()
                case "--globoff", "--path-as-is": break
                default:
                    guard url == nil, word.utf8.first != UInt8(ascii: "-") else { throw Failure("argument \(word)") }
                    url = word
                }
            }
        }

        private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

        private static func firstEquals(_ bytes: [UInt8]) throws -> Int {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "=")), end > 0 else {
                throw Failure("a part has no name")
            }
            return end
        }

        /// Parses the argument of `--form`. Only a word in quotation marks can contain separators.
        private static func part(_ bytes: [UInt8]) throws -> Part {
            let end = try firstEquals(bytes)
            var part = Part(name: text(bytes[..<end]))
            var rest = bytes[(end + 1)...]
            part.content = try quoted(&rest)
            while rest.popFirst() == UInt8(ascii: ";") {
                rest = rest.drop { $0 == 0x20 }
                let field = text(rest.prefix { $0 != UInt8(ascii: "=") }).lowercased()
                switch field {
                case "filename":
                    rest = rest.dropFirst(9)
                    part.filename = try quoted(&rest)
                case "type" where part.type == nil:
                    let type = rest.dropFirst(5).prefix { !";,".utf8.contains($0) }
                    part.type = text(type)
                    rest = rest.dropFirst(5 + type.count)
                case "charset" where part.type != nil:
                    let value = rest.prefix { !";,".utf8.contains($0) }
                    part.type? += "; " + text(value)
                    rest = rest.dropFirst(value.count)
                default: throw Failure("field \(field) of a part")
                }
            }
            guard rest.isEmpty else { throw Failure("a part has trailing bytes") }
            return part
        }

        private static func quoted(_ rest: inout ArraySlice<UInt8>) throws -> String {
            guard rest.popFirst() == UInt8(ascii: "\"") else { throw Failure("a word is not quoted") }
            var word: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\"") { return text(word[...]) }
                if byte == UInt8(ascii: "\\"), let next = rest.first, "\"\\".utf8.contains(next) {
                    word.append(next)
                    rest = rest.dropFirst()
                } else {
                    word.append(byte)
                }
            }
            throw Failure("a word does not end")
        }
    }
#endif
