// SPDX-License-Identifier: MIT
public import LetterheadFoundation
public import Letterhead

/// A template with a distinct value for every member, which ``DecoratorLaws`` decorates.
///
/// The closure that you pass to ``DecoratorLaws`` receives a value of this type.
public struct LawTemplate: PaginatedTemplate {
    /// The result of `decode(_:)`: a text with the variant.
    public struct Response: Sendable, Hashable {
        let text: String
    }

    /// The type for decoded failures.
    public struct Failure: Sendable, Decodable {}

    /// An option that only this template sets.
    enum Mark: HTTPRequestOption {
        static let defaultOptionValue: Int? = nil
    }

    /// The number of this template. Two variants have different values, so a constant can't equal both.
    let variant: Int
    /// How often `finish` was called on a template and its copies.
    let finishes = Watched(0)
    /// The requested page number.
    public private(set) var page: Int
    /// A method that differs between variants.
    public let method: HTTPMethod
    /// Headers that no decorator sets, and headers that a law adds.
    public private(set) var headers: HTTPHeaders
    /// Query items that no decorator sets, and items that a law adds.
    public private(set) var query: QueryParameters
    /// Parameters that no decorator sets, and parameters that a law adds.
    public private(set) var parameters: RequestParameters

    init(variant: Int) {
        self.variant = variant
        page = 10 * variant
        method = variant == 1 ? .get : .post
        headers = ["X-Law": "\(variant)", "X-Law-Repeated": "a", "X-Law-Repeated": "b"]
        query = ["law": variant, "law-repeated": ["a", "b"]]
        parameters = ["law-parameter": variant]
    }

    /// The value that a law adds.
    static let added = "law"

    /// Returns the same template with a second value for a name that a decorator sets.
    func adding(_ name: String, to member: TemplateMember) -> LawTemplate {
        var copy = self
        switch member {
        case .headers: copy.headers.append(HTTPHeaders.Name(name), Self.added)
        case .query: copy.query.append(name, Self.added)
        default: copy.parameters[name] = Self.added
        }
        return copy
    }

    /// A path that differs between variants and pages.
    public var path: RequestPath { "law/\(variant)/\(page)" }
    /// A base URL that differs between variants.
    public var baseURL: URL? { URL(string: "https://law-\(variant).example") }
    /// A body that differs between variants, with a media type that no other body has.
    public var body: DataBody {
        DataBody(Data("law \(variant)".utf8), additionalHeaders: ["Content-Type": "application/x-law"])
    }
    /// A boundary that differs between variants.
    public var boundary: String? { "law-\(variant)" }
    /// Statuses that differ between variants.
    public var acceptedStatuses: HTTPStatusSet? { HTTPStatusSet(200...(200 + variant)) }
    /// An option that no decorator sets.
    public var options: HTTPRequestOptions {
        var options = HTTPRequestOptions()
        options[option: Mark.self] = variant
        return options
    }

    /// Returns the variant and the decoded text.
    public func decode(_ response: HTTPResponse) async throws -> Response {
        Response(text: "\(variant): \(String(decoding: try await response.body.data(), as: UTF8.self))")
    }

    /// Counts the call, marks a response, and turns a failure into a response.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        finishes.change { $0 += 1 }
        switch result {
        case .success(var response):
            response.headers.append("X-Law-Finished", "\(variant)")
            return response
        case .failure(let error):
            return HTTPResponse(request: error.request, status: HTTPStatus(290 + variant))
        }
    }

    /// Returns the same template with the next page number.
    public func requestForNextPage() -> LawTemplate {
        var next = self
        next.page += 1
        return next
    }

    /// Returns the next page. There is always one.
    public func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<LawTemplate> {
        .next(requestForNextPage())
    }

    /// The requested page number.
    public var position: PagePosition { .number(page) }

    /// Returns the same template with the checkpoint page number.
    public func resumed(from checkpoint: PageCheckpoint) -> LawTemplate {
        var other = self
        other.page = checkpoint.page
        return other
    }
}
