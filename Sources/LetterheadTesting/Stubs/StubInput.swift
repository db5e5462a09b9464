// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A request as the stubs receive it.
struct StubInput: Sendable {
    let request: HTTPRequest
    /// The bytes of the body if it is in memory or can be sent only once, or nil if reading it is left to the caller.
    let body: Data?
    let clock: any Clock<Duration>
    /// The encoder of the loader, or nil for the counterpart of the client's decoder.
    let encoder: (any HTTPBodyEncoder)?

    /// The name of the endpoint, or the method and the path of a plain request.
    var name: String { request.template.map { Self.name(of: type(of: $0.root)) } ?? "\(request.method) \(path)" }

    var path: String { request.target.cut(at: "?").map { String($0.head) } ?? request.target }

    /// The request on one line, without values of its query.
    var outline: String {
        let sender = request.template.map { ", sent by \(Self.name(of: type(of: $0.root)))" } ?? ""
        return "\(request.method) \(request.redaction.outline(of: request))\(sender)"
    }

    /// The request for another loader. A body that can be sent only once has been read, so its bytes take its place.
    var forwarded: HTTPRequest {
        guard let body, !request.body.isReplayable else { return request }
        var request = request
        request.body = DataBody(body, additionalHeaders: request.body.additionalHeaders.httpHeaders)
        return request
    }

    /// Returns all bytes of the body.
    func allBytes() async throws -> Data {
        if let body { return body }
        return try await request.framedBody().allBytes()
    }

    static func name(of type: Any.Type) -> String { String(describing: type) }
}

extension StubInput {
    /// The template of the request, followed by the templates inside it. The request of a redirect has none, because
    /// the server has chosen its URL.
    var templates: [any RequestTemplate] {
        request.isRedirected ? [] : Array(sequence(first: request.template) { $0?.inner }.compactMap(\.self))
    }

    /// Returns the template of the request if it has a type.
    func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        request.isRedirected ? nil : request.template(as: type)
    }
}

extension RequestTemplate {
    /// The innermost template of a decorated one.
    var root: any RequestTemplate {
        var template: any RequestTemplate = self
        while let inner = template.inner { template = inner }
        return template
    }
}
