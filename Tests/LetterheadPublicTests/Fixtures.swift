// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

/// The lines that a link wrote. It is a class because the link and the test share it.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func write(_ line: String) { lines.withLock { $0.append(line) } }
}

extension HTTPRequest {
    /// A request to a host that only mocks know.
    static func plain(_ path: RequestPath = "/", _ method: HTTPMethod = .get) -> HTTPRequest {
        var request = HTTPRequest()
        request.host = "api.test"
        request.path = path
        request.method = method
        return request
    }
}

/// A link that replaces each response by a streamed one with the body `one two`.
struct StreamEach: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var response = try await next.load(request)
        let pieces = Pieces()
        response.body = HTTPResponseBody(length: 7) { pieces.next() }
        return response
    }

    /// The pieces of one body. It is a class because any task may read them.
    private final class Pieces: Sendable {
        private let left = Mutex(["one ", "two"])

        func next() -> Data? { left.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
    }
}

/// Lets other tasks run until a condition holds.
func until(_ condition: @Sendable () -> Bool) async {
    while !condition() {
        if Task.isCancelled {
            Issue.record("what was waited for never came")
            return
        }
        // Yielding would keep a processor busy, which the other tests need.
        try? await Task.sleep(for: .milliseconds(1))
    }
}

/// Returns the error of a load.
func failure(_ load: () async throws -> some Any) async -> HTTPError? {
    do { _ = try await load() } catch { return error as? HTTPError }
    return nil
}
