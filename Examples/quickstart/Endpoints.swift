// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

// One type for each endpoint describes its request and its response. It sends nothing. The members are in an extension
// with the conformance, so that the compiler warns about a member with the wrong type, such as `var method: String`.

struct User: Codable, Sendable {
    var id: Int
    var login: String
}

struct GetUser { let login: String }

extension GetUser: RequestTemplate {
    typealias Response = User
    var path: RequestPath { "users/\(login)" }  // the value is always one escaped segment
}

struct CreateUser { let user: User }

extension CreateUser: RequestTemplate {
    typealias Response = User
    var method: HTTPMethod { .post }
    var path: RequestPath { "users" }
    var body: some HTTPBody { JSONBody(user) }
}

struct ListFollowers { let login: String }

extension ListFollowers: RequestTemplate {
    typealias Response = [User]
    var path: RequestPath { "users/\(login)/followers" }
    var query: QueryParameters { ["per_page": 2] }
}

// An endpoint that needs no separate type is a function.

extension RequestTemplate where Self == Get<[User]> {
    static func followers(of login: String, size: Int? = nil) -> Self {
        Get("users/\(login)/followers", query: ["per_page": size])  // nil is left out
    }
}

struct WatchActivity { let login: String }

extension WatchActivity: RequestTemplate {
    var path: RequestPath { "users/\(login)/activity" }
}

struct UploadAvatar { let login: String }

extension UploadAvatar: RequestTemplate {
    typealias Response = Receipt
    var method: HTTPMethod { .put }
    var path: RequestPath { "users/\(login)/avatar" }
}

struct Receipt: Codable, Sendable {
    var contentType: String
    var bytes: Int
}
