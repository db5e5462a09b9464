// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if LETTERHEAD
    import LetterheadURLSession

    typealias URLSession = ClientSession
#endif

/// Runs one case against the server at a URL, and prints a line: what a caller sees.
@main
enum Cases {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let base = URL(string: arguments[2]) else { return print("usage: CASE URL") }
        do { print(try await Case(base: base).run(arguments[1])) } catch let error as URLError {
            print("URLError \(error.code.rawValue)")
        } catch {
            print("\(type(of: error))")
        }
    }
}

struct Case {
    let base: URL
    let session = URLSession(configuration: .ephemeral)

    func run(_ name: String) async throws -> String {
        switch name {
        case "cookies":
            _ = try await get("set-cookie")
            return try await get("cookie")
        case "post-302", "post-307": return try await describe(session.data(for: post(name, Data("body".utf8))))
        case "timeout":
            var request = URLRequest(url: base.appendingPathComponent(name))
            request.timeoutInterval = 1
            return try await describe(session.data(for: request))
        case "cancel": return try await cancel()
        case "cancel-before":
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await get("ok")
            }
            return try await task.value
        case "up-100": return try await describe(session.upload(for: post("count", Data()), from: megabytes(100)))
        case "up-file":
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try megabytes(100).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            return try await describe(session.upload(for: post("count", Data()), fromFile: file))
        case "up-stream":
            var request = post("count", Data())
            request.httpBodyStream = InputStream(data: megabytes(10))
            return try await describe(session.data(for: request))
        case "down-100": return "\(try await session.data(from: base.appendingPathComponent("large")).0.count) bytes"
        case "down-file":
            let (file, response) = try await session.download(from: base.appendingPathComponent("large"))
            defer { try? FileManager.default.removeItem(at: file) }
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
            return "\(status(response)) \(size ?? 0) bytes"
        case "stream", "stream-404", "stream-cut", "stream-cancel": return try await stream(name)
        case "callback":
            return await withCheckedContinuation { continuation in
                session.dataTask(with: URLRequest(url: base.appendingPathComponent("ok"))) { data, response, error in
                    let isWhole = response is HTTPURLResponse && error == nil
                    continuation.resume(returning: "\(isWhole) \(data?.count ?? -1)")
                }.resume()
            }
        case "mock":
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Mock.self]
            return try await describe(
                URLSession(configuration: configuration).data(from: base.appendingPathComponent("mock")))
        default: return try await get(name)
        }
    }

    private func get(_ path: String) async throws -> String {
        try await describe(session.data(from: base.appendingPathComponent(path)))
    }

    private func post(_ path: String, _ body: Data) -> URLRequest {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.httpBody = body
        return request
    }

    private func megabytes(_ count: Int) -> Data { Data(repeating: 0x61, count: count * 1_000_000) }

    private func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }

    private func describe(_ result: (Data, URLResponse)) -> String {
        let (data, response) = result
        return "\(status(response)) \(response.url?.path ?? "") \(String(decoding: data.prefix(60), as: UTF8.self))"
    }

    private func cancel() async throws -> String {
        let task = Task { try await get("stall") }
        // The response never comes, so it doesn't matter how much of the request was sent.
        try await Task.sleep(nanoseconds: 300_000_000)
        task.cancel()
        let begin = Date()
        guard case .failure(let error) = await task.result else { return "no error" }
        let isFast = Date().timeIntervalSince(begin) < 0.1
        return "URLError \((error as? URLError)?.code.rawValue ?? 0)\(isFast ? ", at once" : "")"
    }

    private func stream(_ name: String) async throws -> String {
        #if os(Linux) && !LETTERHEAD
            return "bytes(for:) doesn't exist"
        #else
            let (bytes, response) = try await session.bytes(from: base.appendingPathComponent(name))
            let reader = Task {
                var lines: [String] = []
                do {
                    for try await line in bytes.lines {
                        lines.append(line)
                        if name == "stream-cancel" { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                } catch {
                    lines.append("URLError \((error as? URLError)?.code.rawValue ?? 0)")
                }
                return lines.joined(separator: ",")
            }
            return "\(status(response)) \(await reader.value)"
        #endif
    }
}

/// A mock as tests of libraries for `URLSession` have.
final class Mock: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/mock" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 418, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("mocked".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
