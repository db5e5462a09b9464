/// The redirects of one load so far: counts them, and knows a circle.
struct RedirectTrail {
    private(set) var redirects: [HTTPRedirect] = []
    private var visited: Set<String> = []
    /// The headers of the last response that redirected to its own URL.
    private var lastToItself: [HTTPHeaders.Field]?
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a step; one too many, or one that was taken before, ends the load.
    ///
    /// A redirect that sets a cookie may lead back to where it came from, because the response may be another one then. So
    /// may a redirect to its own URL: it is a circle when the same response comes again.
    mutating func add(_ response: HTTPResponse, target: HTTPRequest) throws(HTTPError) {
        var response = response
        response.redirects = redirects
        guard redirects.count < limit else {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "a limit of \(limit) redirects does not suffice")
        }
        if leadsInCircle(response, to: Self.key(of: target)) {
            throw HTTPError(
                .tooManyRedirects, request: response.request, response: response,
                message: "the redirects go in a circle")
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
        return previous.map { $0.elementsEqual(fields) { $0.name == $1.name && $0.value == $1.value } } ?? false
    }

    /// What the server sees of a URL, by which a circle is known; the fragment is no part of it.
    private static func key(of request: HTTPRequest) -> String {
        "\(request.method) \(request.origin?.description ?? "") \(request.target)"
    }
}
