/// A client is a value that can be derived: these functions return a client with the same chain, connections, tokens and
/// cache, whose requests begin with the settings.
///
/// ```swift
/// let admin = client.header("X-Admin", "1").timeout(.seconds(5)).validated(by: Audit())
/// let user = try await admin.send(GetUser(login: "ada"))
/// ```
///
/// They are the modifiers of ``RequestTemplate``. A setting of a template or a request takes precedence over that of its
/// client, which takes precedence over the environment. Validators, transformers and closures are added to those of the
/// request. The request of a response contains the settings of the client that sent it.
extension HTTPClient {
    /// Sets a header for requests that do not set it; see ``RequestTemplate/header(_:_:)``. nil removes it from the
    /// client.
    ///
    /// The header is sent to each host to which the client sends a request. Put a header that only one server may see
    /// into ``ServerEnvironment/headers``, and credentials into an ``HTTPAuthentication``.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> HTTPClient {
        changing { $0.headers[name] = value }
    }

    /// Sets headers for requests that do not set them; see ``header(_:_:)``.
    public func headers(_ headers: HTTPHeaders) -> HTTPClient { changing { $0.headers.replace(with: headers) } }

    /// Sets a query parameter for requests that do not set it; see ``RequestTemplate/query(_:_:)``. nil removes it from
    /// the client. It is not added to a URL that a server has chosen, such as that of a next page.
    public func query(_ name: String, _ value: (any QueryValue)?) -> HTTPClient {
        changing { $0.query.set(name, to: value) }
    }

    /// Sets an option for requests that do not set it; see ``RequestTemplate/option(_:_:)``.
    public func option<Option: HTTPRequestOption>(_ option: Option.Type, _ value: Option.Value) -> HTTPClient {
        changing { $0.options[option: option] = value }
    }

    /// Replaces the environment of the client; nil applies no environment.
    ///
    /// Credentials without `allowedOrigins` are still sent only to the origin of the environment with which the client
    /// was created.
    public func environment(_ environment: ServerEnvironment?) -> HTTPClient {
        changing { $0.options.serverEnvironment = environment }
    }

    /// Limits the time of each attempt; see ``RequestTemplate/timeout(_:)``.
    public func timeout(_ limit: Duration?) -> HTTPClient { changing { $0.options.timeout = limit } }

    /// Limits the time without traffic; see ``RequestTemplate/idleTimeout(_:)``.
    public func idleTimeout(_ limit: Duration?) -> HTTPClient { changing { $0.options.idleTimeout = limit } }

    /// Limits the time for a connection; see ``RequestTemplate/connectTimeout(_:)``.
    public func connectTimeout(_ limit: Duration?) -> HTTPClient { changing { $0.options.connectTimeout = limit } }

    /// Limits the total time of a request; see ``RequestTemplate/deadline(in:)``.
    public func deadline(in limit: Duration?) -> HTTPClient { changing { $0.options.deadline = limit } }

    /// Replaces the decoder of the client; see ``RequestTemplate/decoder(_:)``.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> HTTPClient { changing { $0.options.decoder = decoder } }

    /// Sets the accepted statuses; see ``RequestTemplate/accepting(_:)``.
    public func accepting(_ statuses: HTTPStatusSet) -> HTTPClient {
        changing { $0.options.acceptedStatuses = statuses }
    }

    /// Limits the size of responses; see ``RequestTemplate/responseLimit(_:)``.
    public func responseLimit(_ bytes: Int) -> HTTPClient { changing { $0.options.responseLimit = bytes } }

    /// Sets the names that are secret in descriptions; see ``RequestTemplate/redaction(_:)``.
    public func redaction(_ redaction: Redaction) -> HTTPClient { changing { $0.options.redaction = redaction } }

    /// Sets which redirects are followed; see ``RequestTemplate/redirects(_:)``.
    public func redirects(_ policy: RedirectPolicy) -> HTTPClient { changing { $0.options.redirectPolicy = policy } }

    /// Sets how responses are cached; see ``RequestTemplate/caching(_:)``.
    public func caching(_ policy: ResponseCache.Policy) -> HTTPClient { changing { $0.options.caching = policy } }

    /// Retries requests; see ``RequestTemplate/retry(_:maximumRetries:)``.
    public func retry(_ strategy: HTTPRetryStrategy, maximumRetries: Int = 3) -> HTTPClient {
        changing {
            $0.options.retryStrategy = strategy
            $0.options.maximumRetries = maximumRetries
        }
    }

    /// Sets the maximum number of retries; see ``RequestTemplate/maximumRetries(_:)``.
    public func maximumRetries(_ count: Int?) -> HTTPClient { changing { $0.options.maximumRetries = count } }

    /// Adds validators, which run after those of a request and before those with which the client was created.
    public func validated(by validators: any HTTPValidator...) -> HTTPClient {
        changing { $0.additions.validators += validators }
    }

    /// Adds transformers, which run after those with which the client was created and before those of a request.
    public func transformed(by transformers: ModifyResponse...) -> HTTPClient {
        changing { $0.additions.responseTransformers += transformers }
    }

    /// Adds a closure that is called for each retry, before those of a request.
    public func onRetry(_ observer: @escaping @Sendable (RetryContext) async -> Void) -> HTTPClient {
        changing { $0.additions.onRetry = joined($0.additions.onRetry, observer) }
    }

    private func changing(_ change: (inout ClientDefaults) -> Void) -> HTTPClient {
        var derived = self
        change(&derived.context.defaults)
        return derived
    }
}
