// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit

/// An endpoint of the tests for stubs.
struct GetPerson: RequestTemplate {
    typealias Response = Person
    typealias Failure = Refusal
    let login: String
    var path: RequestPath { "people/\(login)" }
}

struct CreatePerson: RequestTemplate {
    typealias Response = Person
    let person: Person
    var method: HTTPMethod { .post }
    var path: RequestPath { "people" }
    var body: some HTTPBody { JSONBody(person) }
}

struct DeletePerson: RequestTemplate {
    let login: String
    var method: HTTPMethod { .delete }
    var path: RequestPath { "people/\(login)" }
}

struct ListPeople: RequestTemplate {
    typealias Response = [Person]
    var path: RequestPath { "people" }
}

struct Refusal: Codable, Sendable, Equatable {
    var reason: String
}

extension Person {
    static let ada = Person(id: 1, login: "ada")
    static let grace = Person(id: 2, login: "grace")
}

extension HTTPClient {
    /// A client over a mock.
    static func over(
        _ transport: any HTTPLoader, retrying: Backoff = Backoff(),
        decoder: any HTTPBodyDecoder = JSONDecoder()
    ) -> HTTPClient {
        HTTPClient(environment: .of("https://api.test/v1"), decoder: decoder, retrying: retrying, transport: transport)
    }
}

extension RequestTemplate where Self == Get<Person> {
    static func member(_ login: String) -> Self { Get("people/\(login)") }
    static func owner(ofTeam team: Int) -> Self { Get("teams/\(team)/owner") }
}

extension RequestTemplate where Self == Get<[Person]> {
    static func members(named name: String? = nil) -> Self { Get("people", query: ["name": name]) }
}

extension RequestTemplate where Self == Post<Person> {
    static func enlist(_ body: some HTTPBody) -> Self { Post("people", body: body) }
}
