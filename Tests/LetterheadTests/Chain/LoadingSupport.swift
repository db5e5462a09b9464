// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

extension HTTPRequest {
    /// A request to a URL that a test writes down.
    static func to(_ url: String, method: HTTPMethod = .get) throws -> HTTPRequest {
        HTTPRequest(method: method, url: try #require(URL(string: url)))
    }
}

extension MockLoader {
    /// Answers with the redirects of a table, by URL, and with 200 for any other.
    static func redirecting(_ redirects: [String: (Int, String)]) -> MockLoader {
        MockLoader { request in
            guard let (status, location) = redirects[try request.urlString()] else { return .ok(request) }
            return HTTPResponse(request: request, status: HTTPStatus(status), headers: ["Location": location])
        }
    }
}

/// A body of five bytes, which may be sent again or not.
struct Words: HTTPBody {
    var isReplayable = true
    var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
    func encode() -> Data { Data("words".utf8) }
}
