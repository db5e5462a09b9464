// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Benchmark {
    /// From an endpoint to a request: a GET with five headers and six query items. Two items need escaping.
    ///
    /// The floor is what one writes by hand: URLComponents, URLRequest and a call for each header. Of what it takes on to a
    /// URLRequest, 0.13 is Foundation's own: URL, dictionary of headers and URLRequest.
    static let building: [Benchmark] = {
        let template = Search(text: "swift & co", page: 3)
        let builder = StandardRequestBuilder(template)
        return [
            Benchmark(
                "a template with 6 query items and 5 headers, built to an HTTPRequest",
                floor: { try byHand(text: "swift & co", page: 3) }, measured: { try builder.request() },
                limits: .ratio(0.2), .allocations(10), areSame: { says($0, the: try? $1.urlRequest()) }),
            Benchmark(
                "the same template, on to a URLRequest",
                floor: { try byHand(text: "swift & co", page: 3) }, measured: { try builder.urlRequest() },
                limits: .ratio(0.4), areSame: { says($0, the: $1) }),
            Benchmark(
                "the same template, decorated with 6 modifiers and built",
                floor: { try byHand(text: "swift & co", page: 3, trace: "2") },
                measured: { try StandardRequestBuilder(decorated(template)).request() },
                limits: .ratio(0.6), areSame: { says($0, the: try? $1.urlRequest()) }),
        ]
    }()

    private static func decorated(_ template: Search) -> some RequestTemplate {
        template.header("X-Trace", "2").query("fields", "login näme").timeout(.seconds(5)).accepting([200, 404])
            .redirects(.never).header(.cacheControl, "no-cache")
    }

    private static func says(_ left: URLRequest, the right: URLRequest?) -> Bool {
        left.url == right?.url && left.httpMethod == right?.httpMethod
            && left.allHTTPHeaderFields == right?.allHTTPHeaderFields
    }
}

private struct Search: RequestTemplate {
    let text: String
    let page: Int
    var baseURL: URL? { Self.base }
    var path: RequestPath { "search/users" }
    var query: QueryParameters {
        [
            "q": text, "sort": "followers", "order": "desc", "per_page": 30, "page": page, "fields": "login näme",
        ]
    }
    var headers: HTTPHeaders {
        [
            .accept: "application/json", .acceptLanguage: "en", .userAgent: "Letterhead", "X-Trace": "1",
            .cacheControl: "no-cache",
        ]
    }

    static let base = URL(string: "https://api.example.com/v2")
}

/// The floor: the same request, written by hand.
private func byHand(text: String, page: Int, trace: String = "1") throws -> URLRequest {
    guard let base = Search.base,
        var components = URLComponents(url: base.appendingPathComponent("search/users"), resolvingAgainstBaseURL: false)
    else { throw URLError(.badURL) }
    components.queryItems = [
        URLQueryItem(name: "q", value: text), URLQueryItem(name: "sort", value: "followers"),
        URLQueryItem(name: "order", value: "desc"), URLQueryItem(name: "per_page", value: "30"),
        URLQueryItem(name: "page", value: "\(page)"), URLQueryItem(name: "fields", value: "login näme"),
    ]
    guard let url = components.url else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    request.setValue("en", forHTTPHeaderField: "Accept-Language")
    request.setValue("Letterhead", forHTTPHeaderField: "User-Agent")
    request.setValue(trace, forHTTPHeaderField: "X-Trace")
    request.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
    return request
}
