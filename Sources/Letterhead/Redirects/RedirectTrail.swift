/// The redirects of one load. Counts them and detects loops.
struct RedirectTrail {
    private(set) var redirects: [HTTPRedirect] = []
    private var visited: Set<String> = []
    /// The headers of the previous response if it redirected to its own URL, without Date and Age; nil otherwise.
    private var lastToItself: [HTTPHeaders.Field]?
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a redirect. Throws an error if there are too many redirects or if they form a loop.
    ///
    /// A redirect that sets a cookie may lead to an earlier URL, because the response may differ after that. A
    /// redirect to its own URL is a loop only if the same redirect is received again.
    mutating func add(_ response: HTTPResponse, target: HTTPRequest) throws(HTTPError) {
        var response = response
        response.redirects = redirects
        guard redirects.count < limit else {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "more than \(limit) redirects, which the redirect policy does not allow")
        }
        if leadsInCircle(response, to: Self.key(of: target)) {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "the redirects form a loop")
        }
        redirects.append(HTTPRedirect(response: response, target: target))
    }

    private mutating func leadsInCircle(_ response: HTTPResponse, to target: String) -> Bool {
        let place = Self.key(of: response.request)
        let previous = lastToItself
        lastToItself = nil
        if response.headers.contains(.setCookie) {
            visited = []
            return false
        }
        visited.insert(place)
        guard place == target else { return visited.contains(target) }
        let fields = response.headers.filter { $0.name != .date && $0.name != .age }
        lastToItself = fields
        return previous == fields
    }

    /// Returns the method and the URL of a request, by which a loop is detected. The fragment is left out, because it
    /// is not sent to the server.
    private static func key(of request: HTTPRequest) -> String {
        "\(request.method) \(request.origin?.description ?? "") \(request.target)"
    }
}
