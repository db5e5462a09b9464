// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadTesting
import Synchronization

/// Runs one check with a separate client.
struct SuiteClient: Sendable {
    /// The failure of a check. A failure of its setup means that the check could not be made.
    struct Failure: Error {
        let isSetup: Bool
        let message: String
    }

    let server: SuiteServer
    let url: URL
    let client: HTTPClient

    init(_ server: SuiteServer, url: URL, store: ResponseCache.Store) {
        self.server = server
        self.url = url
        let cache = ResponseCache(
            store: store, now: { Date(timeIntervalSince1970: server.time.withLock { $0 }) },
            onError: { _ in })
        client = HTTPClient(cache: cache)
    }

    func run() async throws {
        var responses: [HTTPResponse?] = []
        for (index, step) in server.check.steps.enumerated() {
            let response = try await send(step, number: index + 1)
            responses.append(response)
            if let response { try check(response, step, number: index + 1) }
            guard step["pause_after"] == true else { continue }
            // A validation in the background takes real time. The cache and the server see three seconds.
            try await Task.sleep(for: .milliseconds(150))
            server.time.withLock { $0 += 3 }
        }
        try checkRequests(responses)
    }

    private func send(_ step: Step, number: Int) async throws -> HTTPResponse? {
        var path = "/test/\(server.id)"
        if let name = step["filename"]?.text { path += "/\(name)" }
        if let query = step["query_arg"]?.text { path += "?\(query)" }
        var request = try HTTPRequest(method: HTTPMethod(step.method), url.absoluteString + path)
        for field in step.fields("request_headers") {
            let now = server.time.withLock { $0 }
            let text = field.value.number.map { SuiteServer.date(now + Double($0)) } ?? field.value.text ?? ""
            request.headers.append(HTTPHeaders.Name(field.name), text)
        }
        if let body = step["request_body"]?.text { request.body = TextBody(body) }
        request.headers["Test-ID"] = server.check.id
        request.headers["Req-Num"] = "\(number)"
        request.acceptedStatuses = HTTPStatusSet(100...999)
        request.redirectPolicy = .never
        switch step["cache"]?.text {
        case "no-cache": request.caching = .revalidate
        case "no-store", "reload": request.caching = .bypass
        default: break
        }
        do {
            return try await client.send(request)
        } catch {
            // A client reports a lost connection as an error, where a proxy would respond with 504.
            if step["expected_status"] == .null { return nil }
            throw Failure(isSetup: step.isSetup("expected_type"), message: "response \(number): \(error)")
        }
    }

    func expect(_ isSetup: Bool, _ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Failure(isSetup: isSetup, message: message()) }
    }

    /// The value of a header as `fetch` returns it.
    func value(_ name: String, _ response: HTTPResponse) -> String? {
        let values = response.headers.values(for: HTTPHeaders.Name(name))
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
