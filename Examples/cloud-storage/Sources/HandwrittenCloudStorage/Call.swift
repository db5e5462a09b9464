// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import CloudStorage
import Foundation
import NIOHTTP1

/// A request before it has a token.
struct Call: Sendable {
    let method: HTTPMethod
    var root = "/storage/v1"
    private let segments: [String]
    private let query: [String: String?]
    var headers: [String: String] = [:]
    /// Creates the body for each attempt.
    var makeBody: (@Sendable () -> HTTPClientRequest.Body)?
    var isIdempotent: Bool

    init(_ method: HTTPMethod, _ segments: [String], query: [String: String?] = [:]) {
        (self.method, self.segments, self.query) = (method, segments, query)
        isIdempotent = method != .POST
    }

    func request(at endpoint: String) throws -> HTTPClientRequest {
        guard segments.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw StorageError(.local, message: "a name is empty, \".\" or \"..\"")
        }
        let items = query.compactMap { name, value in value.map { "\(name)=\(Self.escaped($0))" } }.sorted()
        let path = segments.map(Self.escaped).joined(separator: "/")
        let suffix = items.isEmpty ? "" : "?" + items.joined(separator: "&")
        var request = HTTPClientRequest(url: "\(endpoint)\(root)/\(path)\(suffix)")
        request.method = method
        request.body = makeBody?()
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        return request
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
