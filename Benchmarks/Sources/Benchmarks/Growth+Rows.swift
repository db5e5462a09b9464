// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching

extension Growth {
    static let all = modifiers + setters + iterations + cookies + caches

    /// A modifier for a field compares its name with the fields below it.
    private static let modifiers = [
        modifier("a header", limit: 8) { template, number in
            func wrapped(_ template: some RequestTemplate) -> any RequestTemplate { template.header(name(number), "1") }
            return wrapped(template)
        },
        modifier("a query item", limit: 8) { template, number in
            func wrapped(_ template: some RequestTemplate) -> any RequestTemplate { template.query("name\(number)", 1) }
            return wrapped(template)
        },
        modifier("an option") { template, number in
            func wrapped(_ template: some RequestTemplate) -> any RequestTemplate { template.timeout(.seconds(number)) }
            return wrapped(template)
        },
    ]

    private static func modifier(
        _ name: String, limit: Double = 4,
        _ wrapped: @escaping @Sendable (any RequestTemplate, Int) -> any RequestTemplate
    ) -> Growth {
        Growth("a modifier for \(name) in a template that is built", 8, 64, limit: limit) { count in
            func build(_ template: some RequestTemplate) -> @Sendable () async throws -> Void {
                { consume(try StandardRequestBuilder(template).request()) }
            }
            let template = (0..<count).reduce(Root() as any RequestTemplate, wrapped)
            return build(template)
        }
    }

    private static let setters = [
        setter("a header that is set", limit: 64) { $0.headers[name($1)] = $2 },
        setter("a header that is replaced", isFull: true, limit: 64) { $0.headers[name($1)] = $2 },
        setter("a query item that is set") { $0[query: "name\($1)"] = $2 },
        setter("a query item that is replaced", isFull: true, limit: 64) { $0[query: "name\($1)"] = $2 },
        Growth("a parameter that is set", 8, 512) { count in
            {
                var parameters = RequestParameters()
                for number in 0..<count { parameters["name\(number)"] = number }
                consume(parameters)
            }
        },
        Growth("a parameter that is set and removed", 8, 512, limit: 64) { count in
            {
                var parameters = RequestParameters()
                for number in 0..<count { parameters["name\(number)"] = number }
                for number in 0..<count { parameters["name\(number)"] = nil }
                consume(parameters)
            }
        },
    ]

    /// - Parameter isFull: whether the request begins with all fields, so that each is replaced.
    private static func setter(
        _ name: String, isFull: Bool = false, limit: Double = 4,
        _ set: @escaping @Sendable (inout HTTPRequest, Int, String) -> Void
    ) -> Growth {
        Growth(name, 8, 512, limit: limit) { count in
            var request = HTTPRequest()
            if isFull { for number in 0..<count { set(&request, number, "1") } }
            let start = request
            return {
                var request = start
                for number in 0..<count { set(&request, number, "2") }
                consume(request)
            }
        }
    }

    private static func name(_ number: Int) -> HTTPHeaders.Name { HTTPHeaders.Name("X-Name-\(number)") }

    private static let iterations = [
        Growth("a page of an iteration", 100, 10_000) { count in
            let client = HTTPClient(transport: Numbered(last: count))
            let first = Numbers().paginated(by: .cursor(\.next, parameter: "page"))
            return { for try await page in client.pages(of: first) { consume(page) } }
        },
        Growth("a part of a multipart body in memory", 10, 10_000) { count in
            { consume(try MultipartBody(parts(count)).encode()) }
        },
        Growth("a part of a multipart body that is read in pieces", 10, 10_000) { count in
            { for try await piece in try MultipartBody(parts(count)).chunks() { consume(piece) } }
        },
        Growth("a link in a chain", 10, 1_000) { count in
            let chain = Array(repeating: Pass() as any LoaderLink, count: count) --> Answer()
            return { consume(try await chain.load(HTTPRequest(host: "a.example"))) }
        },
        Growth("a link that is joined with others", 10, 1_000) { count in
            func joined(_ links: some LoaderLink) -> any LoaderLink { links --> Pass() }
            var links: any LoaderLink = Pass()
            for _ in 1..<count { links = joined(links) }
            let chain = links --> Answer()
            return { consume(try await chain.load(HTTPRequest(host: "a.example"))) }
        },
    ]

    private static func parts(_ count: Int) -> [MultipartBody.Part] {
        let data = Data(count: 100)
        return (0..<count).map { .data(data, name: "name\($0)") }
    }

    private static let cookies = [
        // A domain has at most 180 cookies, and a jar 3,000. Those are compared, or sorted.
        Growth("a new cookie of one domain", 16, 180, limit: 180 / 16) { count in
            { try await setCookies(count, of: 1, in: CookieJar()) }
        },
        Growth("a new cookie of one domain, beyond its limit", 180, 3_600) { count in
            { try await setCookies(count, of: 1, in: CookieJar()) }
        },
        Growth("a new cookie in a jar", 150, 3_000) { count in
            { try await setCookies(count, of: 150, in: CookieJar()) }
        },
        Growth("a new cookie in a jar, beyond its limit", 3_000, 12_000) { count in
            { try await setCookies(count, of: 150, in: CookieJar()) }
        },
        Growth("a cookie of a response with many", 400, 10_000) { count in
            let fields = (0..<count).map { "name\($0)=value; Max-Age=1000" }
            return { consume(try await (CookieJar() --> Answer(cookies: fields)).load(HTTPRequest(host: "a.example"))) }
        },
        Growth("a cookie that is sent", 16, 180) { count in
            let jar = CookieJar()
            for number in 0..<count { jar.set(CookieJar.Cookie("name\(number)", "value", domain: "a.example")) }
            return { consume(try await (jar --> Answer()).load(HTTPRequest(host: "a.example"))) }
        },
        Growth("a cookie of a jar with a file, when one changes", 300, 3_000) { count in
            let folder = TemporaryFolder()
            let jar = CookieJar(file: folder.url.appendingPathComponent("cookies.txt"))
            let lines = (0..<count).map { "h\($0 / 20).example\tFALSE\t/\tFALSE\t4000000000\tname\($0)\tvalue\n" }
            try jar.add(text: lines.joined())
            return {
                jar.set(CookieJar.Cookie("name0", "v", domain: "h0.example", expires: .distantFuture))
                withExtendedLifetime(folder) {}
            }
        },
    ]

    /// Responses that each set a cookie, with a path that no request has.
    private static func setCookies(_ count: Int, of hosts: Int, in jar: CookieJar) async throws {
        for number in 0..<count {
            let chain = jar --> Answer(cookies: ["name\(number)=value; Path=/none"])
            consume(try await chain.load(HTTPRequest(host: "h\(number % hosts).example")))
        }
    }

    private static let caches = [
        Growth("a response in a cache in memory", 100, 10_000) { count in
            { try await store(count, in: .memory(bytes: 1 << 30, entries: .max), path: { "\($0)" }) }
        },
        Growth("a response in a full cache in memory", 100, 3_000, dividedBy: { 4 * $0 }) { count in
            { try await store(4 * count, in: .memory(bytes: 1 << 30, entries: count), path: { "\($0)" }) }
        },
        Growth("a variant of a response in memory", 10, 1_000, limit: 30) { count in
            { try await store(count, in: .memory(bytes: 1 << 30, entries: .max), path: { _ in "same" }) }
        },
        Growth("a response in a cache in files", 100, 3_000) { count in
            { try await storeInFiles(count, bytes: 1 << 30, path: { "\($0)" }) }
        },
        Growth("a response in a full cache in files", 100, 1_000, dividedBy: { 4 * $0 }) { count in
            { try await storeInFiles(4 * count, bytes: 400 * count, path: { "\($0)" }) }
        },
        Growth("a variant of a response in files", 10, 300, limit: 30) { count in
            { try await storeInFiles(count, bytes: 1 << 30, path: { _ in "same" }) }
        },
    ]

    private static func storeInFiles(_ count: Int, bytes: Int, path: (Int) -> String) async throws {
        let folder = TemporaryFolder()
        try await store(count, in: .files(in: folder.url, bytes: bytes), path: path)
        withExtendedLifetime(folder) {}
    }

    /// Stores each response, and reads it from the cache.
    private static func store(_ count: Int, in store: ResponseCache.Store, path: (Int) -> String) async throws {
        let chain = ResponseCache(store: store) --> Answer()
        for number in 0..<count {
            var request = HTTPRequest(host: "a.example", path: "\(path(number))")
            request.headers["X-Number"] = "\(number)"
            for _ in 0..<2 { consume(try await chain.load(request).body.data()) }
        }
    }
}

/// Is removed with its last reference.
private final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-growth-\(UUID())")

    deinit { try? FileManager.default.removeItem(at: url) }
}

private struct Root: RequestTemplate {
    var path: RequestPath { "users" }
}

private struct Numbers: RequestTemplate {
    struct Response: Sendable {
        var next: Int?
    }

    var path: RequestPath { "numbers" }
    var baseURL: URL? { Self.base }

    func decode(_ response: HTTPResponse) async throws -> Response {
        Response(next: response.headers["X-Next"].flatMap { Int($0) })
    }

    private static let base = URL(string: "https://api.example.com")
}

private struct Numbered: HTTPLoader {
    let last: Int

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let page = request[query: "page"].flatMap { Int($0) } ?? 1
        return HTTPResponse(request: request, status: .ok, headers: page < last ? ["X-Next": String(page + 1)] : [:])
    }
}

private struct Pass: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await next.load(request)
    }
}

/// A transport that responds at once with a response that can be stored.
private struct Answer: HTTPLoader {
    var cookies: [String] = []

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=600", "Vary": "X-Number"]
        for cookie in cookies { headers.append("Set-Cookie", cookie) }
        return HTTPResponse(request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data("body".utf8)))
    }
}
