// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting

/// Runs each case with both sessions, and prints what their callers see side by side. Fails if the session of Letterhead
/// does other than recorded here. What Foundation's does depends on its version, so it is only printed.
@main
enum Sessions {
    /// The case, and what the session of Letterhead results in.
    static let cases: [(name: String, expected: String)] = [
        ("ok", "200 /ok ok"), ("404", "404 /404 missing"), ("204", "204 /204 "), ("redirect", "200 /ok ok"),
        ("redirect-loop", "URLError -1007"), ("post-302", "200 /method GET "), ("post-307", "200 /method POST body"),
        ("cookies", "200 /cookie a=1"), ("gzip-broken", "URLError -1016"), ("chunked", "200 /chunked abcdef"),
        ("truncated", "URLError -1005"), ("truncated-chunks", "URLError -1005"), ("closed", "URLError -1005"),
        ("garbage", "URLError -1011"), ("huge-head", "URLError -1103"), ("timeout", "URLError -1001"),
        ("slow", "200 /slow abcdefghij"), ("cancel", "URLError -999, at once"), ("cancel-before", "URLError -999"),
        ("up-100", "200 /count 100000000"), ("up-file", "200 /count 100000000"), ("up-stream", "200 /count 10000000"),
        ("down-100", "100000000 bytes"), ("down-file", "200 100000000 bytes"), ("stream", "200 a,b,c"),
        ("stream-404", "404 missing"), ("stream-cut", "200 a,b,URLError -1005"),
        ("stream-cancel", "200 a,URLError -999"),
        ("callback", "true 2"), ("mock", "418 /mock mocked"),
    ]

    static func main() async throws {
        let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        var broken = 0
        for (name, expected) in cases where CommandLine.arguments.count < 2 || CommandLine.arguments.contains(name) {
            let ours = try await result(of: programs.appendingPathComponent("letterhead-session"), name)
            let theirs = try await result(of: programs.appendingPathComponent("foundation-session"), name)
            let isKept = ours == expected
            broken += isKept ? 0 : 1
            print("\(isKept ? "ok  " : "FAIL") \(name): \(ours)" + (ours == theirs ? "" : "   Foundation: \(theirs)"))
            if !isKept { print("     expected: \(expected)") }
        }
        print(broken == 0 ? "the session of Letterhead does what is recorded" : "\(broken) cases differ")
        exit(broken == 0 ? 0 : 1)
    }

    /// Runs a program with a server of its own, for at most 20 seconds.
    private static func result(of program: URL, _ name: String) async throws -> String {
        var configuration = MockServer.Configuration()
        configuration.keptBodySize = 1 << 20
        let server = try await MockServer.start(configuration) { request in try await answer(to: request) }
        enqueueRaw(at: server)
        let process = Process()
        let output = Pipe()
        (process.executableURL, process.arguments) = (program, [name, server.url.absoluteString])
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        let ended = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in ended.continuation.finish() }
        try process.run()
        let timer = Task {
            try await Task.sleep(for: .seconds(20))
            kill(process.processIdentifier, SIGKILL)
        }
        for await _ in ended.stream {}
        timer.cancel()
        await server.stop()
        if process.terminationReason == .uncaughtSignal {
            return process.terminationStatus == SIGKILL
                ? "doesn't end" : "ends with signal \(process.terminationStatus)"
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.trimmingCharacters(in: .newlines)
    }

    private static func answer(to request: MockServer.Request) async throws -> MockServer.Response {
        switch request.path {
        case "/ok": .text("ok")
        case "/404", "/stream-404": .text("missing", status: .notFound)
        case "/204": MockServer.Response(status: .noContent)
        case "/redirect": MockServer.Response(status: .found, headers: ["Location": "/ok"])
        case "/redirect-loop": MockServer.Response(status: .found, headers: ["Location": "/redirect-loop"])
        case "/post-302": MockServer.Response(status: .found, headers: ["Location": "/method"])
        case "/post-307": MockServer.Response(status: .temporaryRedirect, headers: ["Location": "/method"])
        case "/method": .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
        case "/set-cookie": MockServer.Response(headers: ["Set-Cookie": "a=1; Path=/"])
        case "/cookie": .text(request.headers[.cookie] ?? "none")
        case "/count": .text("\(request.bodySize)")
        case "/large": MockServer.Response(body: Data(repeating: 0x62, count: 100_000_000))
        case "/chunked": MockServer.Response(chunks: pieces(["abc", "def"]))
        case "/slow":
            MockServer.Response(body: Data("abcdefghij".utf8)).fault(
                .slow(bytes: 1, every: .milliseconds(20)), at: .responseBody)
        case "/timeout", "/stall": .text("late").fault(.stall, at: .responseBody)
        case "/stream": MockServer.Response(chunks: pieces(["a\n\n", "b\r\nc"]))
        case "/stream-cancel": MockServer.Response(chunks: pieces(["a\n"])).fault(.stall, at: .responseBody)
        default: .text("there is no such case", status: .internalServerError)
        }
    }

    private static func enqueueRaw(at server: MockServer) {
        let head = "HTTP/1.1 200 OK\r\n"
        let raw: [String: String] = [
            "gzip-broken": head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
            "truncated": head + "Content-Length: 10\r\n\r\nabc",
            "truncated-chunks": head + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", "closed": "",
            "garbage": "SSH-2.0\r\n\r\n",
            "huge-head": head + "X: \(String(repeating: "a", count: 400_000))\r\n\r\n",
            "stream-cut": head + "Content-Length: 10\r\n\r\na\nb\nc",
        ]
        for (name, text) in raw { server.enqueue(.raw(text).when { $0.path == "/\(name)" }, times: .max) }
    }

    private static func pieces(_ texts: [String]) -> AsyncStream<Data> {
        AsyncStream { stream in
            for text in texts { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
    }
}
