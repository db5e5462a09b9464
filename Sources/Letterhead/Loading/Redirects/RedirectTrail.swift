/// The redirects of one load so far: counts them, and knows a circle.
struct RedirectTrail {
    private(set) var redirects: [HTTPRedirect] = []
    private var visited: Set<String> = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a step; one too many, or one that was taken before, ends the load.
    ///
    /// A redirect that sets a cookie may rightly lead back to where it came from, so the circle is drawn anew behind it.
    mutating func add(_ response: HTTPResponse, target: HTTPRequest) throws(HTTPError) {
        var response = response
        response.redirects = redirects
        guard redirects.count < limit else {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "a limit of \(limit) redirects does not suffice")
        }
        if response.headers.contains(.setCookie) {
            visited = []
        } else {
            visited.insert(Self.key(of: response.request))
        }
        guard !visited.contains(Self.key(of: target)) else {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "the redirects go in a circle")
        }
        redirects.append(HTTPRedirect(response: response, target: target))
    }

    /// What the server sees of a URL, by which a circle is known; the fragment is no part of it.
    private static func key(of request: HTTPRequest) -> String {
        "\(request.method) \(request.origin?.description ?? "") \(request.target)"
    }
}
