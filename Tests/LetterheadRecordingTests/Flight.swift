// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization
import Testing

/// The parts of a flight recorder's file.
struct Flight {
    let text: String
    let entries: [[String: Any]]
    let log: [String: Any]

    init(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        text = String(decoding: data, as: UTF8.self)
        let archive = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let log = try #require(archive["log"] as? [String: Any])
        entries = try #require(log["entries"] as? [[String: Any]])
        self.log = try #require(log["_flight"] as? [String: Any])
    }

    var loads: [[String: Any]] { log["loads"] as? [[String: Any]] ?? [] }
    var urls: [String] { entries.compactMap { ($0["request"] as? [String: Any])?["url"] as? String } }
    var responses: [[String: Any]] { entries.compactMap { $0["response"] as? [String: Any] } }
    var statuses: [Int] { responses.compactMap { $0["status"] as? Int } }
    var contents: [[String: Any]] { responses.compactMap { $0["content"] as? [String: Any] } }
}

func json(_ request: HTTPRequest, _ text: String, status: HTTPStatus = .ok) -> HTTPResponse {
    HTTPResponse(
        request: request, status: status, headers: [.contentType: "application/json"],
        body: HTTPResponseBody(Data(text.utf8)))
}

/// The error of an operation that must fail.
func thrown(by operation: () async throws -> Void) async throws -> any Error {
    try await #require(throws: (any Error).self) { try await operation() }
}

extension HTTPResponseBody {
    /// A stream of pieces with one size, and an error at its end.
    static func pieces(of text: String, size: Int, failing error: HTTPError? = nil) -> HTTPResponseBody {
        let rest = Mutex(Array(text.utf8)[...])
        return HTTPResponseBody(length: nil) {
            let piece = rest.withLock { rest in
                defer { rest = rest.dropFirst(size) }
                return Data(rest.prefix(size))
            }
            if piece.isEmpty, let error { throw error }
            return piece.isEmpty ? nil : piece
        }
    }
}
