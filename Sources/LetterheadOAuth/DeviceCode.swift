// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

extension OAuth2.SignIn {
    /// A person signs in on a second device (RFC 8628). Use it for a program without a browser, such as a command-line
    /// tool on a server.
    ///
    /// ```swift
    /// signIn: .deviceCode { print("Enter \($0.userCode) at \($0.verificationURL)") }
    /// ```
    ///
    /// After your closure has shown the code, the session asks the server for tokens, at the interval that the server
    /// demands. It stops when the person has decided or the code has expired.
    ///
    /// If only the API has named the server, the server must have its page at its issuer origin, or at an origin in
    /// `pages`. Otherwise, the sign-in fails before anything is shown. Without this rule, a malicious API could show
    /// the code of an attacker, which the person would then approve on an honest server.
    ///
    /// - Parameters:
    ///   - scope: the scopes to request. Default: nil (the scopes in `server.scope`).
    ///   - pages: URLs of further origins where the page of a server that only the API has named may be. Default: none.
    ///   - show: shows the code to the person. The session asks for tokens only after the closure has returned.
    public static func deviceCode(
        scope: Set<String>? = nil, pages: [URL] = [],
        showing show: @escaping @Sendable (OAuth2.DeviceCode) async throws -> Void
    ) -> OAuth2.SignIn {
        OAuth2.SignIn { server, clock throws(HTTPAuthentication.Failure) in
            guard let endpoint = server.deviceAuthorizationEndpoint else {
                throw HTTPAuthentication.Failure(.misconfigured, "the server has no device authorization endpoint")
            }
            return .custom(scope: scope ?? server.scope) { exchange in
                let form = exchange.scope.isEmpty ? [:] : ["scope": exchange.scope.sorted().joined(separator: " ")]
                let answer = try DeviceAnswer(try await exchange.post(form, to: endpoint))
                if server.isNamedByResource { try answer.requirePage(of: server, orAt: pages) }
                return try await answer.tokens(over: exchange, showing: show, on: clock)
            }
        }
    }
}

extension OAuth2 {
    /// The code and the page that a person needs to sign in on a second device.
    public struct DeviceCode: Sendable, Hashable {
        /// The code that the person enters.
        public let userCode: String
        /// The page where the person enters the code.
        public let verificationURL: URL
        /// The page with the code already in its URL, for a QR code or a link, if the server has one. Show the user
        /// code as well, so that the person can compare it.
        public let completeURL: URL?
        /// How long the code can be used after the server has issued it. A sign-in that takes longer fails.
        public let lifetime: Duration
    }
}

/// A device authorization response (RFC 8628, 3.2).
struct DeviceAnswer {
    private let device: Secret
    private let code: OAuth2.DeviceCode
    private let interval: Duration

    init(_ data: Data) throws(HTTPAuthentication.Failure) {
        guard let answer = ServerAnswer(data), let device = try answer.text("device_code"),
            let user = try answer.text("user_code"), Self.isShowable(user),
            // Early drafts used the second name, and some servers still use it.
            let place = try Self.place(in: answer),
            let page = Self.page(place), let life = try answer.seconds("expires_in")
        else {
            throw HTTPAuthentication.Failure(
                .malformed, "the response of the device authorization endpoint violates RFC 8628, 3.2")
        }
        self.device = Secret(device)
        // The lower limit keeps a server from causing requests without a pause.
        interval = min(max(try answer.seconds("interval") ?? .seconds(5), .seconds(1)), .seconds(3600))
        code = OAuth2.DeviceCode(
            userCode: user, verificationURL: page,
            completeURL: try answer.text("verification_uri_complete").flatMap(Self.page),
            lifetime: min(life, .seconds(86_400)))
    }

    private static func place(in answer: ServerAnswer) throws(HTTPAuthentication.Failure) -> String? {
        if let uri = try answer.text("verification_uri") { return uri }
        return try answer.text("verification_url")
    }

    /// Throws if a page is neither at the issuer origin nor at an origin that the program allows.
    func requirePage(of server: OAuth2.Server, orAt pages: [URL]) throws(HTTPAuthentication.Failure) {
        let issuer = server.issuer.flatMap { URL(string: $0, encodingInvalidCharacters: false)?.origin }
        let allowed = [issuer] + pages.map(\.origin)
        for page in [code.verificationURL, code.completeURL].compactMap({ $0?.origin }) where !allowed.contains(page) {
            throw HTTPAuthentication.Failure(
                .refused,
                "only the API has named the authorization server \(issuer?.description ?? "without an issuer"), and "
                    + "the sign-in page is at a different origin, \(page) (if you trust it, list it in pages, or pass "
                    + "the issuer to discovered)")
        }
    }

    /// Returns nil for a URL that is not secure or has a user part. A person opens the page and trusts it. So only the
    /// server may have sent the URL, and a user part must not hide the host.
    private static func page(_ text: String) -> URL? {
        let url = URL(string: text, encodingInvalidCharacters: false)
        return url?.origin?.isSecure == true && url?.hasUserPart == false ? url : nil
    }

    /// Programs print the code on terminals, so it must not contain control characters.
    private static func isShowable(_ code: String) -> Bool {
        (1...64).contains(code.utf8.count) && code.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Shows the code, and asks for tokens until the person has decided (RFC 8628, 3.4 and 3.5).
    func tokens(
        over exchange: OAuth2.Exchange, showing show: (OAuth2.DeviceCode) async throws -> Void,
        on clock: some Clock<Duration>
    ) async throws -> OAuth2.Tokens {
        let end = clock.now.advanced(by: code.lifetime)
        var interval = interval
        try await show(code)
        while true {
            try await clock.sleep(until: min(clock.now.advanced(by: interval), end), tolerance: nil)
            guard clock.now < end else { throw Self.refusal("the code expired before the person signed in", nil) }
            do {
                return try await exchange.tokens(
                    [
                        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.reveal(),
                    ], scope: exchange.scope)
            } catch {
                switch error.code {
                case "authorization_pending": continue
                case "slow_down": interval += .seconds(5)
                case "access_denied": throw Self.refusal("the person denied the sign-in", error)
                case "expired_token": throw Self.refusal("the code expired before the person signed in", error)
                // A server that is overloaded or can't be reached is asked less often.
                case _ where error.reason == .unavailable: interval = min(interval * 2, .seconds(3600))
                default: throw error
                }
            }
        }
    }

    private static func refusal(
        _ message: String, _ error: HTTPAuthentication.Failure?
    ) -> HTTPAuthentication.Failure {
        HTTPAuthentication.Failure(
            .refused, message, code: error?.code ?? "expired_token", status: error?.status, underlying: error)
    }
}
