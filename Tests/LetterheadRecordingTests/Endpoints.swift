// SPDX-License-Identifier: MIT
import Letterhead
import TestKit

struct GetPerson: RequestTemplate {
    typealias Response = Person
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

extension Person {
    static let ada = Person(id: 1, login: "ada")
    static let grace = Person(id: 2, login: "grace")
}

extension HTTPClient {
    /// A client over a mock.
    static func over(_ transport: any HTTPLoader) -> HTTPClient {
        HTTPClient(environment: .of("https://api.test/v1"), transport: transport)
    }
}
