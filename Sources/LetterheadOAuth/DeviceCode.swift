// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

extension OAuth2.SignIn {
    /// A person signs in on another device (RFC 8628). Use it for a program without a browser, such as a command on a
    /// server.
    ///
    /// ```swift
    /// signIn: .deviceCode { print("Enter \($0.userCode) at \($0.verificationURL)") }
    /// ```
    ///
    /// The server is asked for tokens at the interval that it demands, until the person has decided or the code has
    /// expired.
    ///
    /// - Parameters:
    ///   - scope: the scopes to request. Default: nil (those of the server).
    ///   - show: shows the code. The server is asked only after it has returned.
    public static func deviceCode(
        scope: Set<String>? = nil, showing show: @escaping @Sendable (OAuth2.DeviceCode) async throws -> Void
    ) -> OAuth2.SignIn {
        OAuth2.SignIn { server, clock throws(HTTPAuthentication.Failure) in
            guard let endpoint = server.deviceAuthorizationEndpoint else {
                throw HTTPAuthentication.Failure(.misconfigured, "the server has no device authorization endpoint")
            }
            return .custom(scope: scope ?? server.scope) { exchange in
                let form = exchange.scope.isEmpty ? [:] : ["scope": exchange.scope.sorted().joined(separator: " ")]
                let answer = try DeviceAnswer(try await exchange.post(form, to: endpoint))
                return try await answer.tokens(over: exchange, showing: show, on: clock)
            }
        }
    }
}

extension OAuth2 {
    /// What a person needs to sign in on another device.
    public struct DeviceCode: Sendable, Hashable {
        /// The code that the person enters.
        public let userCode: String
        /// The page on which the person enters the code.
        public let verificationURL: URL
        /// The page with the code in its URL, for a QR code or a link; nil if the server has none. Show the user code as
        /// well, so that the person can compare it.
        public let completeURL: URL?
        /// How long the code can be used.
        public let lifetime: Duration
    }
}

/// The response of a device authorization endpoint (RFC 8628, 3.2).
struct DeviceAnswer {
    private struct Document: Decodable {
        let device_code: String
        let user_code: String
        let verification_uri: String?
        /// The name in early drafts, which some servers still use.
        let verification_url: String?
        let verification_uri_complete: String?
        let expires_in: Double
        let interval: Double?
    }

    private let device: Secret
    private let code: OAuth2.DeviceCode
    private let interval: Duration

    init(_ data: Data) throws(HTTPAuthentication.Failure) {
        guard let document = try? JSONDecoder().decode(Document.self, from: data),
            let page = (document.verification_uri ?? document.verification_url).flatMap(Self.page),
            Self.isShowable(document.user_code)
        else {
            throw HTTPAuthentication.Failure(
                .malformed, "the response of the device authorization endpoint violates RFC 8628, 3.2")
        }
        device = Secret(document.device_code)
        // The limits keep calculations from overflowing, and a server from being asked without a pause.
        interval = .seconds(min(max(document.interval ?? 5, 1), 3600))
        code = OAuth2.DeviceCode(
            userCode: document.user_code, verificationURL: page,
            completeURL: document.verification_uri_complete.flatMap(Self.page),
            lifetime: .seconds(min(max(document.expires_in, 0), 86_400)))
    }

    /// A person opens the page and trusts it, so it must be one that only the server can have sent.
    private static func page(_ text: String) -> URL? {
        let url = URL(string: text, encodingInvalidCharacters: false)
        return url?.origin?.isSecure == true ? url : nil
    }

    /// Programs print the code on terminals, which control characters would control.
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
                return try await exchange.tokens([
                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.reveal(),
                ])
            } catch {
                switch error.code {
                case "authorization_pending": continue
                case "slow_down": interval += .seconds(5)
                case "access_denied": throw Self.refusal("the person denied the sign-in", error)
                case "expired_token": throw Self.refusal("the code expired before the person signed in", error)
                // A server that is overloaded or cannot be reached is asked less often.
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
