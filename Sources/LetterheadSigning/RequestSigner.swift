// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Computes a signature over a request exactly as it is sent.
///
/// ## Use a signer
///
/// Pass a signer to `HTTPAuthentication.signing(by:allowedOrigins:)`. Use ``AWSSigner`` for AWS and stores with its
/// protocol, and ``MessageSigner`` for HTTP message signatures.
///
/// ## Implement a signer
///
/// ```swift
/// struct Checksum: RequestSigner {
///     func bodyNeed(for request: HTTPRequest) -> SignedBody.Need { .digest }
///     func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
///         request.headers.setSecret(try await vault.sign(body.digest), for: "X-Signature")
///     }
/// }
/// ```
///
/// The signer runs for each attempt, below retries, redirects and the environment. Only cookies, and the validators
/// that a cache adds, are added later. Each call begins with the unsigned request, so nothing remains from an earlier
/// signature.
///
/// A redirect to the same origin is signed. After a redirect to a different origin, no request is signed, even if
/// `allowedOrigins` lists that origin.
///
/// Laws:
///
/// - ``sign(_:body:)`` reads the headers with `framedHeaders()`, which also contains headers from the body.
/// - It only adds headers or query items, and may write the URL in an equivalent form. If it replaces the body by a
///   framed one, the new body must be as replayable as before.
/// - It throws if the request can't be signed. Nothing is sent in that case.
public protocol RequestSigner: Sendable {
    /// Returns what ``sign(_:body:)`` must know about the body. Default: nothing.
    func bodyNeed(for request: HTTPRequest) -> SignedBody.Need

    /// Writes the signature into a request. Mark it as secret with `setSecret(_:for:)`.
    func sign(_ request: inout HTTPRequest, body: SignedBody) async throws

    /// Returns the header names that the signature covers. If a link below has changed one of these headers and the
    /// server refuses the request, the error names the header. Default: none.
    func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name]

    /// Reads the response, and returns whether to sign and send the request once more, for example with the server
    /// time. It is called for each response, but a request is sent at most twice. Default: false.
    func signsAgain(after response: HTTPResponse) async -> Bool

    /// Throws an error if a response reports a failure that its status doesn't show. It is called for the response that
    /// the caller receives. Default: does nothing.
    func check(_ response: HTTPResponse) throws(HTTPError)

    /// Forgets everything that the signer has learned from servers, such as nonces. Resetting the client calls it.
    /// Default: does nothing.
    func reset() async
}

extension RequestSigner {
    public func bodyNeed(for request: HTTPRequest) -> SignedBody.Need { .nothing }
    public func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] { [] }
    public func signsAgain(after response: HTTPResponse) async -> Bool { false }
    public func check(_ response: HTTPResponse) throws(HTTPError) {}
    public func reset() async {}
}

/// What a signer knows about the request body.
public struct SignedBody: Sendable {
    /// What a signer needs to know about the body. For a digest, the whole body is read before each attempt.
    public enum Need: Sendable, Hashable {
        /// The signature doesn't depend on the body.
        case nothing
        /// The number of bytes. It is nil in ``SignedBody`` if it isn't known.
        case length
        /// The digest and the length. A request with a one-shot body fails before anything is sent.
        case digest
    }

    /// The SHA-256 digest of the whole body, or nil if the signer doesn't need it.
    public let digest: [UInt8]?
    /// The number of bytes in the body, or nil if the signer doesn't need it or it isn't known.
    public let length: Int?

    /// Creates a value for a test of a signer.
    public init(digest: [UInt8]? = nil, length: Int? = nil) { (self.digest, self.length) = (digest, length) }

    init(_ request: HTTPRequest, need: Need) async throws(HTTPError) {
        let isReplayable = request.body.isEmpty || request.body.isReplayable
        switch need {
        case .nothing: self.init()
        // Asking for the chunks of a one-shot body could use it up.
        case .length: self.init(length: isReplayable ? try request.framedBody().length : request.body.contentLength)
        case .digest where !isReplayable:
            let rule = "the signature needs the digest of the body, which can be read only once (use a replayable body)"
            throw HTTPError(signing: Failure(.misconfigured, rule), request: request)
        case .digest:
            var hasher = SHA256Hash()
            var length = 0
            do {
                for try await chunk in try request.framedBody() {
                    hasher.update(chunk)
                    length += chunk.count
                }
            } catch {
                throw HTTPError(ofBody: error, request: request)
            }
            self.init(digest: hasher.finalize(), length: length)
        }
    }
}

/// The error that keys, signers and verifiers throw.
typealias Failure = HTTPAuthentication.Failure

extension HTTPAuthentication {
    /// Signs each attempt with a signer, for requests to the allowed origins only.
    ///
    /// ```swift
    /// let signer = AWSSigner(service: "s3", region: "eu-central-1", credentials: .environment)
    /// let client = HTTPClient(environment: .bucket, authentication: .signing(by: signer))
    /// ```
    ///
    /// - Parameters:
    ///   - signer: signs the requests. Links below the authentication, and the transport, must not change what it has
    ///     signed.
    ///   - allowedOrigins: where requests are signed (see `HTTPAuthentication`). Without them, the signer is used for
    ///     the first origin only, until a reset.
    public static func signing(by signer: some RequestSigner, allowedOrigins: [URL]? = nil) -> HTTPAuthentication {
        .method("signature", allowedOrigins: allowedOrigins, link: SignAttempts(signer))
    }
}

/// Signs and sends a request. If the signer has learned something from the response, it does so once more.
struct SignAttempts: LoaderLink {
    private let signer: any RequestSigner

    init(_ signer: any RequestSigner) { self.signer = signer }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let body = try await SignedBody(request, need: signer.bodyNeed(for: request))
        let isReplayable = request.body.isEmpty || request.body.isReplayable
        var isFirst = true
        while true {
            var signed = request
            do { try await signer.sign(&signed, body: body) } catch {
                throw HTTPError(signing: error, request: request)
            }
            do throws(HTTPError) {
                var response = try await next.load(signed)
                guard await signer.signsAgain(after: response), isFirst, isReplayable else {
                    try check(response, signed)
                    try signer.check(response)
                    response.request = Self.unframed(response.request, as: request)
                    return response
                }
                await response.body.discard()
            } catch {
                throw error.with(request: Self.unframed(error.request, as: request))
            }
            isFirst = false
        }
    }

    func reset(next: any HTTPLoader) async {
        await signer.reset()
        await next.reset()
    }

    /// Returns a sent request with the original body and its framing, because the caller may send the request again.
    private static func unframed(_ sent: HTTPRequest, as original: HTTPRequest) -> HTTPRequest {
        // A redirect may have dropped the body.
        guard !original.body.isEmpty, !sent.body.isEmpty else { return sent }
        var request = sent
        request.body = original.body
        for name in [.contentEncoding, .contentLength] as [HTTPHeaders.Name] {
            request.headers[name] = original.headers[name]
        }
        return request
    }

    /// If a signed header was changed before the request was sent, throws an error that explains the refusal with it.
    private func check(_ response: HTTPResponse, _ signed: HTTPRequest) throws(HTTPError) {
        guard [400, 401, 403].contains(response.status.code) else { return }
        let (before, after) = (signed.framedHeaders(), response.request.framedHeaders())
        let changed = signer.signedHeaders(of: signed).first { before.values(for: $0) != after.values(for: $0) }
        guard let changed else { return }
        let rule = "the header \(changed) changed after signing"
        throw HTTPError(
            .cannotAuthenticate, request: signed, response: response, underlying: Failure(.misconfigured, rule),
            message: "the server refused the signature with \(response.status), because \(rule) "
                + "(move the link that sets it above the authentication)", mayHaveBeenSent: true)
    }
}

extension HTTPRequest {
    /// The value of `Host` that transports send.
    var hostField: String { headers[.host] ?? withoutDefaultPort(authority ?? "") }

    /// The authority in lower case and without the default port (RFC 9110, 4.2.3).
    var normalAuthority: String { withoutDefaultPort(ASCII.lowercased(hostField)) }

    /// The path of the request target, which begins with a slash.
    var targetPath: String { path.string.begins(with: "/") ? path.string : "/" + path.string }

    private func withoutDefaultPort(_ authority: String) -> String {
        let port = ASCII.equalIgnoringCase(scheme, "http") ? ":80" : ":443"
        return authority.ends(with: port) ? String(authority.dropLast(port.utf8.count)) : authority
    }
}
