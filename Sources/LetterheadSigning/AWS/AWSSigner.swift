// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Signs requests with AWS Signature Version 4, for AWS and for stores with the S3 protocol.
///
/// ```swift
/// let signer = AWSSigner(service: "s3", region: "eu-central-1", credentials: .environment)
/// let client = HTTPClient(
///     environment: ServerEnvironment("https://letters.s3.eu-central-1.amazonaws.com"),
///     authentication: .signing(by: signer))
/// ```
///
/// Create one signer for each service and region, and keep it: it holds the credentials, the daily signing key and the
/// known server clocks. Its copies share them.
///
/// ## Presign a URL
///
/// A presigned URL lets anyone send one request until the URL expires, without credentials:
///
/// ```swift
/// let link = try await signer.presignedURL(for: HTTPRequest(url: report), expiresIn: .seconds(600))
/// ```
///
/// For an upload from a browser, create a form with ``presignedForm(to:bucket:key:fields:length:expiresIn:)``.
///
/// ## What is signed
///
/// - The method, the URL, the body digest, and all headers except for those that proxies change.
/// - For S3 over https, a file or a stream is sent without a digest (`UNSIGNED-PAYLOAD`), because TLS protects it. To
///   have the bytes signed or compared with a checksum, choose chunks.
/// - For VPC Lattice (`vpc-lattice-svcs`), no body has a digest, because this service doesn't sign bodies.
/// - In all other cases, the body is read for its digest first. A request with a one-shot body therefore fails with
///   `.cannotAuthenticate` before anything is sent.
/// - `X-Amz-Content-SHA256` is added for every service. If the request already has this header, its value is signed.
/// - The request is sent in the form that is signed: with escapes such as `%2B` for a `+`, and without a default port.
///
/// If a server refuses a signature, its `Date` may show that the clocks differ. If the difference is more than four
/// minutes and at most a day, the request is signed once more with the server time, and so are all later requests to
/// this origin.
///
/// <doc:SigningForAWS> shows large objects, uploads in parts, and errors.
public struct AWSSigner: RequestSigner {
    let service: String
    let region: String
    let state: AWSState
    private let signsChunks: Bool
    private let checksum: Checksum?

    /// Creates a signer for one service and region.
    ///
    /// - Parameters:
    ///   - service: the service name that the signature contains, such as `s3`, `execute-api` or `dynamodb`.
    ///   - region: the region, such as `eu-central-1`. Most compatible stores accept `us-east-1`.
    ///   - credentials: provides the access key.
    ///   - signsChunks: whether a file or a stream for S3 is sent in chunks of 64 KiB that are signed one by one. Each
    ///     byte is then read only once, and is protected over http as well. The length of the body must be known.
    ///     Default: false.
    ///   - checksum: the checksum that S3 compares with the received bytes. A file or a stream is then sent in chunks.
    ///     The chunks are signed over http, or with `signsChunks`. Default: nil (none).
    ///   - now: returns the current date.
    public init(
        service: String, region: String, credentials: AWSCredentials.Provider, signsChunks: Bool = false,
        checksum: Checksum? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.service, self.region, state) = (service, region, AWSState(credentials, now: now))
        (self.signsChunks, self.checksum) = (signsChunks, checksum)
    }

    /// Whether the service is S3, which doesn't normalize paths. Services with a similar name, such as `s3tables`, do.
    private var isS3: Bool { ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(service) }

    private var sendsChunks: Bool { isS3 && (signsChunks || checksum != nil) }

    public func bodyNeed(for request: HTTPRequest) -> SignedBody.Need {
        // VPC Lattice accepts only `UNSIGNED-PAYLOAD` as the hash.
        let isSet = request.headers.contains(Self.payload) || service.isSame(as: "vpc-lattice-svcs")
        if request.query.contains("X-Amz-Signature") || isSet { return .nothing }
        guard isS3, Self.isSecure(request) || sendsChunks, !request.body.isEmpty else { return .digest }
        let isInMemory = request.body.isReplayable && (try? request.framedBody().data) != nil
        return isInMemory ? .digest : .nothing
    }

    /// Adds the signature headers. A request with a presigned URL is left unchanged.
    public func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
        // A presigned URL contains a signature already, and S3 refuses a request with two.
        if request.query.contains("X-Amz-Signature") { return }
        try normalize(&request)
        let credentials = try await state.credentials(for: request)
        let seal = try seal(credentials, for: request)
        let own = request.headers[Self.payload]
        var chunks = own == nil && body.digest == nil ? try await chunks(of: request, seal) : nil
        if let chunks {
            request.headers[.contentEncoding] = chunks.codings(after: request.headers[.contentEncoding])
            request.headers[.contentLength] = nil
            request.body = chunks
        }
        let hash = own ?? body.digest.map(Hexadecimal.text) ?? chunks?.payload ?? Self.unsigned
        request.headers["X-Amz-Date"] = seal.time
        if let token = credentials.sessionToken {
            request.headers.setSecret(token.reveal(), for: "X-Amz-Security-Token")
        }
        request.headers[Self.payload] = hash
        let canonical = AWSCanonicalRequest(request, isS3: isS3, payload: hash)
        let signature = seal.signature(of: canonical)
        chunks?.seed = Secret(signature)
        if let chunks { request.body = chunks }
        request.headers.setSecret(
            "\(AWSSeal.algorithm) Credential=\(credentials.accessKey)/\(seal.scope), "
                + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature)", for: .authorization)
    }

    /// Returns the body in chunks, or nil if it is sent unchanged.
    private func chunks(of request: HTTPRequest, _ seal: AWSSeal) async throws -> AWSChunkedBody? {
        guard sendsChunks, !request.body.isEmpty else { return nil }
        let names = request.framedHeaders().map(\.name)
        if let name = names.first(where: { $0 == "Content-Digest" || $0 == "Repr-Digest" }) {
            let rule =
                "chunks for S3 change the bytes of the content, so its \(name) would be wrong (RFC 9530): "
                + "omit the digest, or don't send chunks"
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        guard let length = try await SignedBody(request, need: .length).length, (0..<1 << 60).contains(length) else {
            throw Failure(
                .misconfigured,
                "chunks for S3 need a body of a known length (set a StreamBody's length, or write to a file first)")
        }
        let isSigned = signsChunks || !Self.isSecure(request)
        return AWSChunkedBody(body: request.body, length: length, checksum: checksum, seal: isSigned ? seal : nil)
    }

    /// Returns a URL that anyone can use until it expires.
    ///
    /// - Parameters:
    ///   - request: the request to sign, with its host. A program that uses the URL must send the same headers.
    ///   - duration: how long the URL can be used: a second to seven days. Temporary credentials may end earlier.
    /// - Throws: `.cannotAuthenticate` with the error of the credential provider. `.invalidRequest` for a duration out
    ///   of range, for a request without a host, or for a URL that is already signed.
    public func presignedURL(for request: HTTPRequest, expiresIn duration: Duration) async throws -> URL {
        try Self.check(duration, for: request)
        guard !request.query.contains("X-Amz-Signature") else {
            let rule = "the URL has an X-Amz-Signature already (pass the URL without its signature)"
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        var signed = request
        try normalize(&signed)
        let credentials = try await state.credentials(for: signed)
        let seal = try seal(credentials, for: signed)
        let own = request.headers[Self.payload]
        let body = isS3 ? SignedBody() : try await SignedBody(request, need: bodyNeed(for: request))
        let names = AWSCanonicalRequest(signed, isS3: isS3).signedHeaders
        signed.query.append("X-Amz-Algorithm", AWSSeal.algorithm)
        signed.query.append("X-Amz-Credential", "\(credentials.accessKey)/\(seal.scope)")
        signed.query.append("X-Amz-Date", seal.time)
        signed.query.append("X-Amz-Expires", "\(duration.components.seconds)")
        signed.query.append("X-Amz-SignedHeaders", names)
        if let token = credentials.sessionToken { signed.query.append("X-Amz-Security-Token", token.reveal()) }
        let payload = own ?? body.digest.map(Hexadecimal.text) ?? Self.unsigned
        let canonical = AWSCanonicalRequest(signed, isS3: isS3, payload: payload)
        signed.query.append("X-Amz-Signature", seal.signature(of: canonical))
        return try signed.url()
    }

    public func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] {
        AWSCanonicalRequest(request, isS3: isS3).signedHeaders.split(at: ";").map { HTTPHeaders.Name(String($0)) }
    }

    public func signsAgain(after response: HTTPResponse) async -> Bool { state.learn(from: response) }

    /// Throws if a successful S3 response reports a failure in its body.
    ///
    /// When a request copies an object or completes a multipart upload, S3 may begin its response before it knows the
    /// result. The status is then 200, and only the body reports the failure.
    public func check(_ response: HTTPResponse) throws(HTTPError) {
        let request = response.request
        guard isS3, response.status == .ok, request.method == .put || request.method == .post,
            let body = response.body.buffered
        else { return }
        // S3 sends spaces until it knows the result.
        var text = String(decoding: body.drop { $0 <= 0x20 }.prefix(256), as: UTF8.self)
        if text.begins(with: "<?xml"), let prolog = text.cut(at: ">") {
            text = String(decoding: prolog.tail.utf8.drop { $0 <= 0x20 }, as: UTF8.self)
        }
        guard text.begins(with: "<Error>") else { return }
        let rule = "the status is 200, but the body contains an AWS error"
        throw HTTPError(.reportedFailure, request: request, response: response, message: rule)
    }

    /// Forgets the credentials, the signing key and the known server clocks.
    public func reset() async { state.reset() }

    private static let unsigned = "UNSIGNED-PAYLOAD"

    /// The header with the body hash. If a request already has it, its value is signed.
    private static let payload: HTTPHeaders.Name = "X-Amz-Content-SHA256"

    /// Changes a request to the form that is signed. Signatures in a header and presigned URLs are both computed over
    /// this form.
    private func normalize(_ request: inout HTTPRequest) throws(HTTPError) {
        request.normalizeForAWS(isS3: isS3)
        let foreign = request.headers.first { field in
            ASCII.lowercased(field.name.rawValue).begins(with: "x-amz-meta-")
                && !ASCII.allBytes(of: field.value) { $0 < 0x80 }
        }
        guard isS3, let foreign else { return }
        let rule = "the header \(foreign.name) has characters that aren't ASCII, which S3 refuses (escape them)"
        throw HTTPError(.invalidRequest, request: request, message: rule)
    }

    static func check(_ duration: Duration, for request: HTTPRequest) throws(HTTPError) {
        guard (Duration.seconds(1)...(.seconds(604_800))).contains(duration) else {
            let rule = "a presigned URL or form must expire in 1 second to 7 days"
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
    }

    private static func isSecure(_ request: HTTPRequest) -> Bool { request.scheme.isSame(as: "https") }

    func seal(_ credentials: AWSCredentials, for request: HTTPRequest) throws -> AWSSeal {
        let time = try state.time(at: request.origin)
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let key = state.key(scope, credentials.secretKey)
        return AWSSeal(time: time, scope: scope) { HMAC.sha256($0, key: key) }
    }
}

/// The values that all signatures of a request share. The key is hidden in a closure, so that no description contains
/// it.
struct AWSSeal: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"

    /// The signing time as `20260131T080000Z`.
    let time: String
    /// The day, the region and the service that the key is for.
    let scope: String
    let code: @Sendable (String) -> [UInt8]

    static func hash(_ text: String) -> String { hash(Data(text.utf8)) }

    static func hash(_ bytes: Data) -> String {
        var hasher = SHA256Hash()
        hasher.update(bytes)
        return Hexadecimal.text(hasher.finalize())
    }

    func signature(of request: AWSCanonicalRequest) -> String { signature("", [Self.hash(request.text)]) }

    func signature(_ kind: String, _ lines: [String]) -> String {
        Hexadecimal.text(code(([Self.algorithm + kind, time, scope] + lines).joined(separator: "\n")))
    }
}
