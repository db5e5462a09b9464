// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadCaching
    import LetterheadOAuth
    import LetterheadObserving
    import LetterheadRecording
    import LetterheadRelay
    import LetterheadResilience
    import LetterheadSigning
    import LetterheadTesting
    import LetterheadTransfers
    import TestKit
    import Synchronization

    /// The parts of a client that are looked at after it was released.
    struct Parts: Sendable {
        let recorder = EventRecorder()
        let archive = FlightRecorder(last: 1_000, bytes: 64 << 20, keepsBinaryBodies: true)
        let flight = FlightRecorder(last: 10)
        let statistics = StatisticsRecorder()
        let throttle = Throttle(limit: 1)
        let deduplicate = Deduplicate(ignoring: ["X-Call"])
        /// By call.
        let progress = [Mutexed<[HTTPRequest.Progress]>([]), Mutexed([])]
        /// What the calls upload.
        let contents = Mutexed<[Data]>([])
        /// What a flight recorder keeps around the error of each call that has failed.
        let flights = Mutexed<[Int: Result<Data, any Error>]>([:])

        var running: Int { throttle.running + throttle.waiting + deduplicate.running + deduplicate.waiting }
    }

    /// The client of a case.
    struct Setup: Sendable {
        let testCase: Case
        let scene: Scene
        let folder: URL
        let client: HTTPClient
        /// The same links, composed by hand.
        let chain: any HTTPLoader
        let parts: Parts
        let jar: CookieJar?

        init(_ testCase: Case, _ scene: Scene, _ parts: Parts, in folder: URL) throws {
            (self.testCase, self.scene, self.parts, self.folder) = (testCase, scene, parts, folder)
            if testCase.is(.body, "file", "text") {
                try Data(Bodies.text.utf8).write(to: folder.appending(path: "body"))
            }
            jar =
                switch testCase[.cookies] {
                case "jar": CookieJar()
                case "file": CookieJar(file: folder.appending(path: "cookies"))
                default: nil
                }
            let cache: ResponseCache? =
                switch testCase[.cache] {
                case "none": nil
                case "files":
                    ResponseCache(
                        store: try .files(in: folder.appending(path: "cache"), bytes: 1 << 20), now: { scene.now })
                default: ResponseCache(store: .memory(bytes: 1 << 20), now: { scene.now })
                }
            let observers: [any HTTPObserver] =
                switch testCase[.observers] {
                case "none": []
                case "all", "secret": [parts.recorder, parts.archive, parts.flight, parts.statistics]
                default: [parts.recorder]
                }
            let transport = Self.transport(testCase)
            let attemptLinks = Self.attemptLinks(testCase, scene, parts.throttle, parts.deduplicate)
            let authentication = try Self.authentication(testCase, scene)
            var validators: [any HTTPValidator] =
                switch testCase[.retry] {
                case "validator": [RetryUnavailable()]
                case "alternate": [Self.alternate(scene), DefaultValidator()]
                default: [DefaultValidator()]
                }
            if testCase[.authentication] == "verified" {
                let covered = testCase.signed.map { MessageComponent(stringLiteral: $0) }
                let verifier = MessageVerifier(requiring: covered, now: { scene.now }) { _ in try .hmac(Content.key) }
                validators.insert(verifier, at: 0)
            }
            let settings = Self.settings(testCase)
            let outer = Self.outer(testCase)
            let tracing = testCase[.outer] == "trace" ? TraceContextPropagation() : nil
            let environment = Self.environment(scene)
            if testCase[.environment] == "closure" {
                client = HTTPClient(
                    environment: .provided { _ in environment }, authentication: authentication, cookies: jar,
                    cache: cache,
                    validators: validators, retrying: settings, links: outer, attemptLinks: attemptLinks,
                    observers: observers, tracing: tracing, transport: transport)
            } else {
                let client = HTTPClient(
                    environment: testCase[.environment] == "client" ? environment : nil, authentication: authentication,
                    cookies: jar, cache: cache, validators: validators, retrying: settings, links: outer,
                    attemptLinks: attemptLinks, observers: observers, tracing: tracing, transport: transport)
                self.client = testCase[.environment] == "derived" ? client.environment(environment) : client
            }
            let apply =
                switch testCase[.environment] {
                case "client": ApplyEnvironment(environment)
                case "closure": ApplyEnvironment(.provided { _ in environment })
                default: ApplyEnvironment()
                }
            let links: [(any LoaderLink)?] = [
                Autocancel(), outer, Deadline(), Retry(validators: validators, settings), FollowRedirects(), apply, jar,
                Authenticate(authentication ?? .anonymous), cache, attemptLinks,
            ]
            chain = links.compactMap(\.self) --> transport
        }

        func reset() async { if testCase.isOverChain { await chain.reset() } else { await client.reset() } }

        static func environment(_ scene: Scene) -> ServerEnvironment {
            ServerEnvironment(scene.url(.api, "/api"), headers: ["X-Tenant": "acme"])
        }

        private static func transport(_ testCase: Case) -> any HTTPLoader {
            var configuration = TransportConfiguration.trustingTests
            configuration.sendsHTTP1Directly = testCase[.transport] != "libcurl"
            if testCase[.transport] == "tls" { configuration.httpVersions = .http1 }
            let transport = HTTPClient.makeTransport(configuration)
            if testCase.isDirect { return transport }
            let form = WireForm(secrets: .travel)
            let isClient = testCase[.transport] == "relay-client"
            let server = isClient ? RelayServer(HTTPClient(transport: transport), form) : RelayServer(transport, form)
            return Relay.streaming(form) { server.answers(to: $0) }
        }

        private static func settings(_ testCase: Case) -> Backoff {
            switch testCase[.retry] {
            case "client": Backoff(.immediate, maximumRetries: 2)
            case "validator", "alternate": Backoff(maximumRetries: 2)
            default: Backoff()
            }
        }

        /// Sends a request to another origin after a 503.
        private static func alternate(_ scene: Scene) -> ClosureValidator {
            let url = scene.url(.other, "/ticket")
            return ClosureValidator(sending: { _, _ in try HTTPRequest(url) }, after: [503], onResponse: { _, _ in })
        }

        private static func outer(_ testCase: Case) -> (any LoaderLink)? {
            switch testCase[.outer] {
            case "continue": ContinueBodies(Backoff(.immediate, maximumRetries: 3))
            case "deadline": Deadline(.seconds(20))
            case "print": PrintLoader { _ in }
            default: nil
            }
        }

        private static func attemptLinks(
            _ testCase: Case, _ scene: Scene, _ throttle: Throttle, _ deduplicate: Deduplicate
        ) -> (any LoaderLink)? {
            let hedge = Hedge(after: .fixed(.milliseconds(8)), share: 1)
            let replicas = [Site.first, .second].map { Replica(scene.origin($0)) }
            let origin = HTTPRequest(url: URL(string: scene.origin(.api)) ?? URL(filePath: "/")).origin
            let isNamed = !testCase.is(.environment, "client", "closure") || testCase.isOverChain
            let balance = Balance(among: replicas, by: .roundRobin, for: isNamed ? origin : nil)
            switch testCase[.link] {
            case "throttle": return throttle
            case "balance": return balance
            case "hedge": return hedge
            case "breaker": return CircuitBreaker(per: .host)
            case "deduplicate": return deduplicate
            case "rate": return LimitRate(1_000)
            case "hedge-balance": return hedge --> balance
            case "deduplicate-throttle": return deduplicate --> throttle
            case "throttle-balance": return throttle --> balance
            case "resilience":
                var resilience = Resilience.standard
                (resilience.hedge, resilience.balance, resilience.throttle) = (hedge, balance, Throttle(limit: 4))
                return resilience.attemptLinks
            default: return nil
            }
        }

        private static func authentication(_ testCase: Case, _ scene: Scene) throws -> HTTPAuthentication? {
            let isBound = testCase[.environment] == "client" && !testCase.isOverChain
            let origins = isBound ? nil : URL(string: scene.origin(.api)).map { [$0] }
            let isHome = testCase[.authentication] == "oauth-home"
            let tokens = URL(string: scene.url(isHome ? .api : .other, "/token")) ?? URL(filePath: "/")
            switch testCase[.authentication] {
            case "basic": return .basic(username: "u", password: "p", allowedOrigins: origins)
            case "bearer": return .bearer("static", allowedOrigins: origins)
            case "asked": return .bearer(each: { "static" }, allowedOrigins: origins)
            case "key": return .apiKey("key", allowedOrigins: origins)
            case "digest": return .digest(user: "u", password: "p", allowedOrigins: origins)
            case "signing":
                let signer = NumberingSigner(readsBody: testCase[.body] != "once")
                return .signing(by: signer, allowedOrigins: origins)
            case "chunks":
                let credentials = AWSCredentials(accessKey: "key", secretKey: "hush")
                let signer = AWSSigner(service: "s3", region: "r", credentials: .fixed(credentials), signsChunks: true)
                return .signing(by: signer, allowedOrigins: origins)
            case "challenge":
                return .challenge(allowedOrigins: origins) { _, _ in .basic(username: "u", password: "p") }
            case "provider":
                return .bearer(allowedOrigins: origins) { need in
                    let response = try await need.next.load(HTTPRequest(method: .post, url: tokens))
                    let token = try JSONDecoder().decode([String: String].self, from: try await response.body.data())
                    return token["access_token"].map { Secret($0) }
                }
            case "oauth", "oauth-home":
                return .oauth2(
                    client: OAuth2.Client(id: "app", secret: "hush"), tokenEndpoint: tokens,
                    grant: .clientCredentials(), allowedOrigins: origins)
            case "session":
                let api = URL(string: scene.origin(.api)).map { [$0] }
                return try OAuth2.Session(
                    client: OAuth2.Client(id: "app", secret: "hush"), server: OAuth2.Server(tokenEndpoint: tokens),
                    signIn: .clientCredentials(), allowedOrigins: api
                ).authentication
            default: return nil
            }
        }
    }

    extension Case {
        /// Whether the call does not pass the client.
        var isOverChain: Bool { self.is(.entry, "builder", "chain", "handle") && !needsClient }

        /// Whether the call passes a session over the client. A `URLRequest` has no secrets and no one-shot body.
        var isOverSession: Bool {
            self.is(.entry, "session") && self.is(.delivery, "buffered", "stream", "lines", "download")
                && self[.body] != "once" && self[.authentication] != "path" && self[.observers] != "secret"
        }

        /// Some deliveries are functions of a client.
        private var needsClient: Bool {
            isUpload
                || self.is(
                    .delivery, "folder", "resumed", "decoded", "failing", "reconnecting", "followed", "parts", "pages",
                    "links")
        }

        var isUpload: Bool { self.is(.delivery, "uploaded", "uploaded-away", "uploaded-draft") }
        /// Whether the server names a URL at another origin for the upload.
        var isUploadAway: Bool { self[.delivery] == "uploaded-away" }
        /// Whether the server speaks the IETF's protocol, and the client sends digests.
        var isUploadDraft: Bool { self[.delivery] == "uploaded-draft" }
        /// What the signature of a response covers. A digest can't be compared while the body is streamed or compressed.
        var signed: [String] {
            let isWhole = isUpload || isPaged || self.is(.delivery, "buffered", "download", "folder", "resumed")
            return ["@status", "x-time"] + (isWhole && self[.plan] != "gzip" ? ["content-digest"] : [])
        }
        var isPaged: Bool { self.is(.delivery, "pages", "links") }
        var fetchesTokens: Bool { self.is(.authentication, "provider", "oauth", "oauth-home", "session") }
        /// Whether the requests pass no relay.
        var isDirect: Bool { !self.is(.transport, "relay", "relay-client") }
    }

    /// Signs with what a server can compare: a number, the method, the target and the digest of the body.
    private struct NumberingSigner: RequestSigner {
        let readsBody: Bool
        private let count = Mutexed(0)

        init(readsBody: Bool) { self.readsBody = readsBody }

        func bodyNeed(for request: HTTPRequest) -> SignedBody.Need { readsBody ? .digest : .nothing }

        func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
            let number = count.value.withLock { count in
                count += 1
                return count
            }
            let digest = body.digest.map { Data($0).base64EncodedString() } ?? "-"
            request.headers.setSecret("\(number) \(request.method) \(request.target) \(digest)", for: "X-Signature")
        }

        func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] { ["X-Signature"] }
    }

    /// Requires a retry after each 503.
    private struct RetryUnavailable: HTTPValidator {
        func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
            response.status == 503 ? .retry(.immediate) : .nextValidator
        }
    }
#endif
