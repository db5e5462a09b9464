// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadContracts
import LetterheadRecording
import LetterheadTesting

enum Plan: String, Codable { case free, pro }

/// The types of an API's program.
struct Member: Codable, Sendable {
    var id: Int
    var login: String
    var plan: Plan
    var email: String
    var bio: String?
}

struct Repository: Decodable, Sendable {
    var name: String
    var labels: [String: Label]
    var owner: Member?

    struct Label: Decodable, Sendable {
        var color: String
    }
}

struct RefusedBody: Decodable, Sendable {
    var reason: String
}

struct GetMember: RequestTemplate {
    typealias Response = Member
    typealias Failure = RefusedBody
    let login: String
    var path: RequestPath { "members/\(login)" }
}

struct ListRepositories: RequestTemplate {
    typealias Response = [Repository]
    var path: RequestPath { "repositories" }
}

/// A recording as another program writes it.
struct Recording {
    var entries: [String] = []

    /// Adds an exchange. The template is the name in the file, if any.
    mutating func add(
        _ path: String, _ body: String, method: String = "GET", template: String? = nil, status: Int = 200,
        type: String = "application/json", note: String = ""
    ) throws {
        let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
        let route = path.split(separator: "/")[0] + (path.contains("/") ? "/{}" : "")
        let name = template.map { #","_template":"\#($0)","_route":"\#(route)""# } ?? ""
        entries.append(
            """
            {"request":{"method":"\(method)","url":"https://api.test/\(path)"}\(name),
             "response":{"status":\(status),"content":{"mimeType":"\(type)","text":\(text)\(note)}}}
            """)
    }

    /// A recording of members.
    static func members(_ bodies: String...) throws -> Recording {
        var recording = Recording()
        for body in bodies { try recording.add("members/ada", body, template: "GetMember") }
        return recording
    }

    /// The recording, opened from a file.
    func cassette() throws -> Cassette {
        let file = FileManager.default.temporaryDirectory.appending(path: "contracts-\(UUID()).har")
        let text = #"{"log":{"version":"1.2","creator":{"name":"t","version":"1"},"entries":["#
        try Data((text + entries.joined(separator: ",") + "]}}").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try Cassette(file, mode: .replay)
    }

    func check() async throws -> ContractReport {
        try await Contract.check(cassette(), against: GetMember.self, ListRepositories.self)
    }
}

extension ContractReport {
    /// The findings of one kind, each on one line without the endpoint.
    func found(_ kind: Kind) -> [String] {
        findings.filter { $0.kind == kind }.map { "\($0.path): \($0.summary) \($0.count)/\($0.total)" }
    }
}
