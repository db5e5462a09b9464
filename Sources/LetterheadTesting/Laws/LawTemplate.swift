public import Foundation
public import Letterhead
import Synchronization

/// A template in which every member says something of its own, for ``DecoratorLaws`` to be decorated.
///
/// You only ever meet it as the argument of the closure that you give to the laws.
public struct LawTemplate: PaginatedTemplate {
    /// What it answers with.
    public struct Response: Sendable, Hashable {
        let text: String
    }

    /// What its failures are decoded to.
    public struct Failure: Sendable, Decodable {}

    /// What it sends.
    public struct Body: HTTPBody, Hashable {
        let text: String
        /// A media type that no other body has.
        public var additionalHeaders: HTTPHeaders { ["Content-Type": "application/x-law"] }
        /// The text.
        public func encode() -> Data { Data(text.utf8) }
    }

    /// An option that only it sets.
    enum Mark: HTTPRequestOption {
        static let defaultOptionValue: Int? = nil
    }

    /// How often it was asked to finish. A class, because a template and its copies share the count.
    final class Journal: Sendable {
        private let calls = Mutex<[HTTPRequest.ID]>([])
        var heard: [HTTPRequest.ID] { calls.withLock { $0 } }
        func note(_ id: HTTPRequest.ID) { calls.withLock { $0.append(id) } }
    }

    /// Tells two templates apart, so that no constant passes for a member of both.
    let variant: Int
    let journal = Journal()
    /// The page that it asks for.
    public private(set) var page: Int
    /// A method that differs between variants.
    public let method: HTTPMethod
    /// Headers that no decorator has, and those that a law adds.
    public internal(set) var headers: HTTPHeaders
    /// A query that no decorator has, and what a law adds.
    public internal(set) var query: QueryParameters
    /// Parameters that no decorator has, and those that a law adds.
    public internal(set) var parameters: RequestParameters

    init(variant: Int) {
        self.variant = variant
        page = 10 * variant
        method = variant == 1 ? .get : .post
        headers = ["X-Law": "\(variant)", "X-Law-Repeated": "a", "X-Law-Repeated": "b"]
        query = ["law": variant, "law-repeated": ["a", "b"]]
        parameters = ["law-parameter": variant]
    }

    /// A path that differs between variants and pages.
    public var path: RequestPath { "law/\(variant)/\(page)" }
    /// A base URL that differs between variants.
    public var baseURL: URL? { URL(string: "https://law-\(variant).example") }
    /// A body that differs between variants.
    public var body: Body { Body(text: "law \(variant)") }
    /// A boundary that differs between variants.
    public var boundary: String? { "law-\(variant)" }
    /// Statuses that differ between variants.
    public var acceptedStatuses: HTTPStatusSet? { HTTPStatusSet(200...(200 + variant)) }
    /// An option that no decorator sets.
    public var options: HTTPRequestOptions {
        var options = HTTPRequestOptions()
        options[Mark.self] = variant
        return options
    }

    /// Says who decoded what.
    public func decode(_ response: HTTPResponse) async throws -> Response {
        Response(text: "\(variant): \(String(decoding: try await response.body.data(), as: UTF8.self))")
    }

    /// Notes the call; marks a response, and turns a failure into a response of its own.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        switch result {
        case .success(var response):
            journal.note(response.request.id)
            response.headers.append("X-Law-Finished", "\(variant)")
            return response
        case .failure(let error):
            journal.note(error.request.id)
            return HTTPResponse(request: error.request, status: HTTPStatus(290 + variant))
        }
    }

    /// The same with the next number.
    public func requestForNextPage() -> LawTemplate {
        var next = self
        next.page += 1
        return next
    }

    /// Always another page.
    public func requestForNextPage(after arrival: Page<Response>) async throws -> PageContinuation<LawTemplate> {
        .next(requestForNextPage())
    }

    /// The number that it asks for.
    public var position: PagePosition { .number(page) }

    /// The same with the number of a checkpoint.
    public func resumed(from checkpoint: PageCheckpoint) -> LawTemplate {
        var other = self
        other.page = checkpoint.page
        return other
    }
}
