// SPDX-License-Identifier: MIT
import FoundationEssentials
import Letterhead

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Sends requests over HTTP/3 to a server that Tests/Scripts/http3.sh has started, and fails at the first wrong result.
@main struct HTTP3 {
    let server: URL
    let client: HTTPClient
    let large: Data

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let server = URL(string: arguments[1]), let process = Int32(arguments[4]) else {
            print("usage: http3 SERVER CERTIFICATE LARGE-FILE PROCESS")
            exit(2)
        }
        let large = try Data(contentsOf: URL(filePath: arguments[3]))
        func test(_ versions: TransportConfiguration.HTTPVersions) -> HTTP3 {
            var configuration = TransportConfiguration()
            configuration.httpVersions = versions
            configuration.security.roots = .file(URL(filePath: arguments[2]))
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server), transport: HTTPClient.makeTransport(configuration))
            return HTTP3(server: server, client: client, large: large)
        }
        let http3 = test(.http3)
        try await http3.run("a response has a version, a status and a body") {
            let response = try await http3.client.send(Get<HTTPResponse>("teapot").accepting([418]))
            try check(response.metrics.httpVersion == "HTTP/3", "\(response.metrics.httpVersion ?? "no version")")
            try check(try await response.decode(String.self) == "short and stout")
        }
        try await http3.run("a HEAD has no body") {
            let response = try await http3.client.send(http3.request(.head, "large"))
            try check(response.status == .ok && response.body.buffered?.isEmpty != false)
        }
        try await http3.run("a status that is not accepted is an error with its response") {
            do {
                _ = try await http3.client.send(Get<String>("missing"))
                throw Wrong("no error")
            } catch let error as HTTPError { try check(error.response?.status == .notFound, "\(error)") }
        }
        try await http3.run("an upload arrives complete") {
            let text = String(repeating: "0123456789", count: 10_000)
            var request = http3.request(.post, "echo")
            request.body = DataBody(Data(text.utf8))
            try check(try await http3.client.send(request).decode(String.self) == text)
        }
        try await http3.run("a large response is complete") {
            try check(try await http3.client.send(Get<Data>("large")) == large)
        }
        try await http3.run("a stream is complete, and waits for its reader") {
            var data = Data()
            for try await piece in try await http3.client.stream(Get<Data>("large")).body {
                if data.isEmpty { try await Task.sleep(for: .milliseconds(300)) }
                data += piece
            }
            try check(data == large)
        }
        try await http3.run("a range is a part of the file") {
            var request = http3.request(.get, "large")
            request.headers["Range"] = "bytes=1000-1999"
            let response = try await http3.client.send(request)
            try check(response.status == 206 && response.body.buffered == large[1000..<2000])
        }
        try await http3.run("a hundred requests at once share a connection") {
            let shared = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let response = try await http3.client.send(Get<HTTPResponse>("teapot").accepting([418]))
                        return response.metrics.httpVersion == "HTTP/3" && response.metrics.isReusedConnection == true
                    }
                }
                var shared: [Bool] = []
                for try await isShared in group { shared.append(isShared) }
                return shared
            }
            try check(shared.count { $0 } >= 99, "\(shared.count { $0 }) of 100")
        }
        try await http3.run("a cancelled request ends, and the next one is sent") {
            let load = Task { try await http3.client.send(Get<Data>("large")) }
            try await Task.sleep(for: .milliseconds(5))
            load.cancel()
            _ = await load.result
            try check(try await http3.client.send(Get<HTTPResponse>("teapot").accepting([418])).status == 418)
        }
        try await http3.run("another client uses HTTP/2 with the same server") {
            let response = try await test(.http2).client.send(Get<HTTPResponse>("teapot").accepting([418]))
            try check(response.metrics.httpVersion == "HTTP/2", "\(response.metrics.httpVersion ?? "no version")")
        }
        try await http3.run("a response that breaks off is an error, and not a shorter one") {
            let response = try await http3.client.stream(Get<Data>("large").idleTimeout(.seconds(3)))
            var count = 0
            do {
                for try await piece in response.body {
                    if count == 0 { kill(process, SIGKILL) }
                    count += piece.count
                }
                throw Wrong("\(count) of \(large.count) bytes, without an error")
            } catch let error as HTTPError { print("  after \(count) bytes: \(error.code), \(error.message)") }
        }
    }

    func request(_ method: HTTPMethod, _ path: String) -> HTTPRequest {
        HTTPRequest(method: method, url: URL(string: "\(server)/\(path)") ?? server)
    }

    func run(_ name: String, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            print("FAILED: \(name): \(error)")
            exit(1)
        }
        print("passed: \(name)")
    }
}

struct Wrong: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func check(_ isTrue: Bool, _ what: String = "a wrong result") throws { if !isTrue { throw Wrong(what) } }
