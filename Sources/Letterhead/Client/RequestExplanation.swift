// SPDX-License-Identifier: MIT
/// What a client would send for a template, and where each part comes from.
///
/// ```swift
/// print(try await client.explain(GetUser(login: "ada").header("X-Trace", "1").timeout(.seconds(5))))
/// // GET https://api.example.com/users/ada
/// //   base URL: https://api.example.com  (the environment of the client)
/// //   path: users/ada  (GetUser)
/// //   header X-Trace: 1  (a modifier)
/// //   header Accept: application/json, application/problem+json  (the decoder)
/// //   authentication: bearer  (the client)
/// //   timeout: 5 s  (a modifier)
/// //   retries: none  (the retry settings of the client)
/// //   chain: HTTPClient(…)
/// ```
///
/// Print it when a header, a timeout or an origin isn't what you expect. Secret values are redacted.
public struct RequestExplanation: Sendable, CustomStringConvertible {
    /// The request as the links of the client receive it, with the environment and the stored cookies. It isn't signed.
    public let request: HTTPRequest
    /// The parts of the request, its settings and the chain, in this order.
    ///
    /// A part has a name such as `header X-Trace` or `timeout`, and a value that is redacted if it is secret. Its
    /// source is what has set the value, such as a template, a decorator, the client, an environment, the body, the
    /// decoder, or the defaults.
    public let parts: [(name: String, value: String, source: String)]

    public var description: String {
        ([request.redaction.requestLine(of: request)] + parts.map { "  \($0.name): \($0.value)  (\($0.source))" })
            .joined(separator: "\n")
    }
}

extension HTTPClient {
    /// Builds the request for a template as this client sends it, and explains what has set each part. Nothing is sent.
    ///
    /// The explanation includes the environment and the stored cookies. If a closure provides the environment, the
    /// closure is called. Your own links are not called. The last part lists the whole chain.
    ///
    /// - Throws: errors from building the request and from the closure for the environment, and `.invalidRequest` if
    ///   the request cannot be sent.
    public func explain(_ template: some RequestTemplate) async throws -> RequestExplanation {
        let built = try sendable(template).request()
        var adopted = built
        adopt(&adopted, decodes: decodes(template))
        let filled = try await request(adopted, after: parts.applyEnvironment)
        var final = if let jar = parts.cookies { try await request(filled, after: jar) } else { filled }
        try final.validate()
        // A custom credential is secret, even if the name of its header isn't known to be.
        for place in parts.authenticate.places(for: final) {
            switch place {
            case .header(let name): final.redaction = final.redaction.adding(headers: [name])
            case .query(let name): final.redaction = final.redaction.adding(parameters: [name])
            }
        }
        var explaining = Explaining(
            template: template, client: self, built: built, adopted: adopted, filled: filled, final: final)
        explaining.explain()
        explaining.add("chain", "\(self)", "the client")
        return RequestExplanation(request: final, parts: explaining.parts)
    }

    private func decodes<Template: RequestTemplate>(_ template: Template) -> Bool {
        ResponseDecoding.usesDecoder(for: Template.Response.self)
    }

    /// Returns the request that a link passes on. Nothing is sent: the loader below the link responds at once, and its
    /// response contains the request.
    private func request(_ request: HTTPRequest, after link: any LoaderLink) async throws(HTTPError) -> HTTPRequest {
        let end = AnyLoader { HTTPResponse(request: $0, status: .noContent) }
        return try await link.load(request, next: end).request
    }
}

private struct Explaining {
    /// The template and what it decorates, the outermost first.
    private let layers: [any RequestTemplate]
    private let client: HTTPClient
    /// The request after each step.
    private let (built, adopted, filled, final): (HTTPRequest, HTTPRequest, HTTPRequest, HTTPRequest)
    private(set) var parts: [(name: String, value: String, source: String)] = []

    init(
        template: any RequestTemplate, client: HTTPClient, built: HTTPRequest, adopted: HTTPRequest,
        filled: HTTPRequest, final: HTTPRequest
    ) {
        var layers: [any RequestTemplate] = []
        var next: (any RequestTemplate)? = template
        while let layer = next {
            layers.append(layer)
            next = (layer as? any RequestDecorator)?.base ?? (layer as? any ErasingTemplate)?.erased
        }
        (self.layers, self.client) = (layers, client)
        (self.built, self.adopted, self.filled, self.final) = (built, adopted, filled, final)
    }

    mutating func add(_ name: String, _ value: String, _ source: String) {
        parts.append((name, value, source))
    }

    mutating func explain() {
        explainURL()
        explainHeaders()
        if !final.body.isEmpty {
            add(
                "body", Redaction.outline(of: final.describedBody, headers: final.framedHeaders()),
                setter { "\($0.body)" })
        }
        explainAuthentication()
        explainSettings()
    }

    // MARK: The request

    private mutating func explainURL() {
        let environment =
            built.options.contains(ServerEnvironment.self) ? "the environment of the request" : environmentName
        if final.method != .get {
            add(
                "method", final.method.printable, built.method == final.method ? setter { "\($0.method)" } : environment
            )
        }
        if let origin = final.origin {
            add("base URL", origin.description, built.host == nil ? environment : setter { "\($0.baseURL as Any)" })
        }
        add("path", Redaction.visible("\(built.path)"), setter { $0.path.string })
        for item in final.query {
            var alone = QueryParameters()
            alone.append(item)
            let text = final.redaction.text(of: alone)
            if built.query.contains(item) {
                let isQuery = layers.first?.query.contains(item) == true
                let values = { (layer: any RequestTemplate) in "\(layer.query.values(for: item.name))" }
                add("query", text, isQuery ? setter(values) : "the parameters of \(setter { "\($0.parameters)" })")
            } else {
                add("query", text, adopted.query.contains(item) ? "the client" : environment)
            }
        }
    }

    private mutating func explainHeaders() {
        let environment =
            built.options.contains(ServerEnvironment.self) ? "the environment of the request" : environmentName
        for field in final.framedHeaders() {
            let name = field.name
            let values = { (layer: any RequestTemplate) in "\(layer.headers.values(for: name))" }
            let source =
                if layers.first?.headers.contains(name) == true {
                    setter(values)
                } else if field.isFallback {
                    "the decoder"
                } else if built.headers.contains(name) {
                    "the builder"
                } else if adopted.headers.contains(where: { $0.name == name && !$0.isFallback }) {
                    "the client"
                } else if filled.headers.contains(name) {
                    environment
                } else if final.headers.contains(name) { "the cookie jar" } else { "the body" }
            add("header \(name)", final.redaction.value(of: field), source)
        }
    }

    /// The name of the environment that applies to a request without its own.
    private var environmentName: String {
        client.defaults.options.contains(ServerEnvironment.self) ? "the client" : "the environment of the client"
    }

    /// The layer that has set a value: the innermost one that holds it, if all layers further out pass it on unchanged.
    private func setter(_ value: (any RequestTemplate) -> String) -> String {
        var place = 0
        while place + 1 < layers.count, value(layers[place + 1]) == value(layers[place]) { place += 1 }
        guard layers.indices.contains(place) else { return "" }
        let name = "\(type(of: layers[place]))".split(at: "<").first ?? ""
        return name.isSame(as: "Modified") ? "a modifier" : String(name)
    }

    // MARK: The settings

    private mutating func explainAuthentication() {
        let source = final.authentication == nil ? "the client" : setting(AuthenticationOption.self)
        add("authentication", client.parts.authenticate.explanation(of: final), source)
    }

    private mutating func explainSettings() {
        let options = adopted.options
        func limit(_ duration: Duration?) -> String { duration.map { $0 == .never ? "never" : $0.shown } ?? "none" }
        let limits: [(String, Duration?, String?)] = [
            ("timeout", adopted.timeout, source(TimeoutOption.self)),
            ("idleTimeout", adopted.idleTimeout, source(IdleTimeoutOption.self)),
            ("connectTimeout", adopted.connectTimeout, source(ConnectTimeoutOption.self)),
            ("deadline", adopted.deadline, source(DeadlineOption.self)),
        ]
        for case (let name, let value, let source?) in limits { add(name, limit(value), source) }
        explainRetries()
        if let statuses = adopted.acceptedStatuses, let source = source(AcceptedStatusesOption.self) {
            add("acceptedStatuses", "\(statuses)", source)
        }
        if let source = source(ResponseDeliveryOption.self) {
            add("responseDelivery", "\(options.responseDelivery)", source)
        }
        if let source = source(ResponseLimitOption.self) { add("responseLimit", "\(adopted.responseLimit)", source) }
    }

    private mutating func explainRetries() {
        let standard = client.parts.retry
        let maximum = adopted.maximumRetries ?? standard.requestMaximum
        let strategy = adopted.retryStrategy ?? standard.strategy
        let source =
            source(MaximumRetriesOption.self) ?? source(RetryStrategyOption.self) ?? "the retry settings of the client"
        guard maximum > 0 else { return add("retries", "none", source) }
        var value = "at most \(maximum)"
        value += strategy.map { ", \($0)" } ?? ", if a validator asks for them"
        if !final.isIdempotent {
            value += ", only if nothing was sent, because \(final.method.printable) is not idempotent"
        }
        if !final.body.isEmpty, !final.body.isReplayable { value += ", never, because the body can be sent only once" }
        add("retries", value, source)
    }

    /// Returns what has set an option. Nil if nothing has set it.
    private func source(_ option: (some HTTPRequestOption).Type) -> String? {
        if built.options.contains(option) { return setting(option) }
        return client.defaults.options.contains(option) ? "the client" : nil
    }

    private func setting<Option: HTTPRequestOption>(_ option: Option.Type) -> String {
        setter { layer in
            layer.options.contains(option) ? "\(layer.options[option: option])" : ""
        }
    }
}
