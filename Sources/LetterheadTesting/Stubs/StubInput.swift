// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A request for the stubs.
struct StubInput: Sendable {
    let request: HTTPRequest
    /// The body's bytes if it is in memory or can be sent only once. Otherwise nil, and the caller reads it.
    let body: Data?
    let clock: any Clock<Duration>
    /// The loader's encoder, or nil for the client decoder's counterpart.
    let encoder: (any HTTPBodyEncoder)?

    /// The endpoint's name, or a plain request's method and path.
    var name: String { request.template.map { Self.name(of: type(of: $0.root)) } ?? "\(request.method) \(path)" }

    var path: String { request.target.cut(at: "?").map { String($0.head) } ?? request.target }

    /// The request on one line, without query values.
    var outline: String {
        let sender = request.template.map { ", sent by \(Self.name(of: type(of: $0.root)))" } ?? ""
        return "\(request.method) \(request.redaction.outline(of: request))\(sender)"
    }

    /// The request for another loader. A body that can be sent only once has been read, so its bytes take its place.
    var forwarded: HTTPRequest {
        guard let body, !request.body.isReplayable else { return request }
        var request = request
        request.body = DataBody(body, additionalHeaders: request.body.additionalHeaders)
        return request
    }

    /// Returns all body bytes.
    func allBytes() async throws -> Data {
        if let body { return body }
        return try await request.framedBody().allBytes()
    }

    static func name(of type: Any.Type) -> String { String(describing: type) }
}

extension StubInput {
    /// The request's template, followed by the templates inside it. A redirect's request has none, because the server
    /// has chosen its URL.
    var templates: [any RequestTemplate] {
        request.isRedirected ? [] : Array(sequence(first: request.template) { $0?.inner }.compactMap(\.self))
    }

    /// Returns the request's template if it has a type.
    func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        request.isRedirected ? nil : request.template(as: type)
    }
}

extension RequestTemplate {
    /// The template inside all decorators.
    var root: any RequestTemplate {
        var template: any RequestTemplate = self
        while let inner = template.inner { template = inner }
        return template
    }
}
