// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// What a stub recognizes a template by: its request's method, path, query and body. Headers and settings aren't
/// compared.
struct StubTemplate: Hashable {
    let method: HTTPMethod
    let path: RequestPath
    private let query: String
    private let body: ComparedBody
    /// The method, and the URL without query values.
    let name: String

    /// Builds a template's request.
    ///
    /// - Throws: `.invalidRequest` if building the request fails, or if its body isn't in memory.
    init(_ template: some RequestTemplate) throws(HTTPError) {
        var request = try StandardRequestBuilder(template).request()
        name = "\(request.method) \(request.redaction.outline(of: request))"
        // A relative URL can't be validated.
        if request.host == nil { request.host = "localhost" }
        try request.validate()
        (method, path, query) = (request.method, request.path, request.query.escaped)
        guard let data = try request.framedBody().data else {
            throw HTTPError(
                .invalidRequest, request: request, message: "the body is not in memory, so it cannot be compared")
        }
        body = ComparedBody(data, request.framedHeaders()[.contentType].flatMap { MediaType($0) })
    }

    /// Returns the differences between this template and a request's template, inside any decorators.
    func differences(from input: StubInput) -> [Stub.Difference] {
        let candidates = input.templates.map { template -> [Stub.Difference] in
            do throws(HTTPError) {
                return differences(from: try StubTemplate(template))
            } catch {
                return [.init(weight: 6, text: "the template cannot be compared: \(error.message)")]
            }
        }
        return candidates.min { $0.weight < $1.weight } ?? [.init(weight: 10, text: "the request has no template")]
    }

    private func differences(from sent: StubTemplate) -> [Stub.Difference] {
        var found: [Stub.Difference] = []
        if method != sent.method { found.append(.init(weight: 3, text: "the method is not \(method)")) }
        if path != sent.path { found.append(.init(weight: 6, text: "the path \(sent.path) is not \(path)")) }
        if query != sent.query { found.append(.init(weight: 2, text: "the query differs")) }
        if body != sent.body { found.append(.init(weight: 2, text: "the body differs")) }
        return found
    }
}
