import Foundation
import Letterhead

// One type for each endpoint describes its request and its response. It sends nothing.

struct User: Codable, Sendable {
    var id: Int
    var login: String
}

struct GetUser: RequestTemplate {
    typealias Response = User
    let login: String
    var path: RequestPath { "users/\(login)" }  // the value is always one escaped segment
}

struct CreateUser: RequestTemplate {
    typealias Response = User
    let user: User
    var method: HTTPMethod { .post }
    var path: RequestPath { "users" }
    var body: some HTTPBody { JSONBody(user) }
}

struct ListFollowers: RequestTemplate {
    typealias Response = [User]
    let login: String
    var path: RequestPath { "users/\(login)/followers" }
    var query: QueryParameters { ["per_page": 2] }
}

// An endpoint that needs no separate type is a function.

extension RequestTemplate where Self == Get<[User]> {
    static func followers(of login: String, size: Int? = nil) -> Self {
        Get("users/\(login)/followers", query: ["per_page": size])  // nil is left out
    }
}

struct WatchActivity: RequestTemplate {
    let login: String
    var path: RequestPath { "users/\(login)/activity" }
}

struct UploadAvatar: RequestTemplate {
    typealias Response = Receipt
    let login: String
    var method: HTTPMethod { .put }
    var path: RequestPath { "users/\(login)/avatar" }
}

struct Receipt: Codable, Sendable {
    var contentType: String
    var bytes: Int
}

/// Any URL: a template with a base URL needs no environment.
struct Fetch: RequestTemplate {
    let baseURL: URL?
    var path: RequestPath { "" }
}
