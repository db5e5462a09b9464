// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Signs requests with AWS Signature Version 4, for AWS and for stores with S3's protocol.
///
/// ```swift
/// let signer = AWSSigner(service: "s3", region: "eu-central-1", credentials: .environment)
/// let client = HTTPClient(
///     environment: ServerEnvironment("https://letters.s3.eu-central-1.amazonaws.com"),
///     authentication: .signing(by: signer))
/// let link = try await signer.presignedURL(for: HTTPRequest(url: report), expiresIn: .seconds(600))
/// ```
///
/// The signature covers the method, the URL, the body's digest, and all headers except for those that proxies change.
/// For S3 over https, a file or a stream isn't read for its digest (`UNSIGNED-PAYLOAD`). Elsewhere, a request with a
/// one-shot body fails with `.cannotAuthenticate` before anything is sent.
///
/// If a server refuses a signature and its `Date` differs by more than four minutes, the request is signed once more
/// with the server's time, as are all later requests.
public struct AWSSigner: RequestSigner {
    let service: String
    let region: String
    let state: AWSState

    /// - Parameters:
    ///   - service: the name for the signature, such as `s3`, `execute-api` or `dynamodb`.
    ///   - region: such as `eu-central-1`. Most compatible stores accept `us-east-1`.
    ///   - credentials: the access key's source.
    ///   - now: returns the current date.
    public init(
        service: String, region: String, credentials: AWSCredentials.Provider,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.service, self.region, state) = (service, region, AWSState(credentials, now: now))
    }

    /// S3 requires the body's digest in a header, and doesn't normalize paths. This doesn't apply to other services with
    /// a similar name, such as `s3tables`.
    private var isS3: Bool { ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(service) }

    public func bodyNeed(for request: HTTPRequest) -> SignedBody.Need {
        if request.query.contains("X-Amz-Signature") { return .nothing }
        guard isS3, request.scheme.isSame(as: "https"), !request.body.isEmpty else { return .digest }
        let isInMemory = request.body.isReplayable && (try? request.framedBody().data) != nil
        return isInMemory ? .digest : .nothing
    }

    public func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
        // A presigned link has its signature already, and S3 refuses two.
        if request.query.contains("X-Amz-Signature") { return }
        let credentials = try await state.credentials()
        let (time, scope) = try scope()
        let hash = body.digest.map(Hexadecimal.text) ?? Self.unsigned
        request.headers["X-Amz-Date"] = time
        if let token = credentials.sessionToken {
            request.headers.setSecret(token.reveal(), for: "X-Amz-Security-Token")
        }
        if isS3 { request.headers["X-Amz-Content-SHA256"] = hash }
        request.headers[.authorization] = nil
        let canonical = AWSCanonicalRequest(request, isS3: isS3, payload: hash)
        let signature = signature(of: canonical.text, time, scope, credentials)
        request.headers.setSecret(
            "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope), "
                + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature)", for: .authorization)
    }

    /// Returns a URL that anyone can use until it expires.
    ///
    /// - Parameters:
    ///   - request: the request to sign, with its host. A caller must send its headers, too.
    ///   - duration: how long the URL can be used: a second to seven days. Temporary credentials may end earlier.
    /// - Throws: the provider's error, and `.invalidRequest` for a duration out of range and for a request without a
    ///   host.
    public func presignedURL(for request: HTTPRequest, expiresIn duration: Duration) async throws -> URL {
        guard (1...604_800).contains(duration.components.seconds) else {
            throw HTTPError(.invalidRequest, request: request, message: "a presigned URL expires in 1 second to 7 days")
        }
        let credentials = try await state.credentials()
        let (time, scope) = try scope()
        let body = isS3 ? SignedBody() : try await SignedBody(request, need: .digest)
        var signed = request
        let names = AWSCanonicalRequest(request, isS3: isS3).signedHeaders
        signed.query.append("X-Amz-Algorithm", Self.algorithm)
        signed.query.append("X-Amz-Credential", "\(credentials.accessKey)/\(scope)")
        signed.query.append("X-Amz-Date", time)
        signed.query.append("X-Amz-Expires", "\(duration.components.seconds)")
        signed.query.append("X-Amz-SignedHeaders", names)
        if let token = credentials.sessionToken { signed.query.append("X-Amz-Security-Token", token.reveal()) }
        let payload = body.digest.map(Hexadecimal.text) ?? Self.unsigned
        let canonical = AWSCanonicalRequest(signed, isS3: isS3, payload: payload)
        signed.query.append(
            "X-Amz-Signature", signature(of: canonical.text, time, scope, credentials))
        return try signed.url()
    }

    public func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] {
        AWSCanonicalRequest(request, isS3: isS3).signedHeaders.split(at: ";").map { HTTPHeaders.Name(String($0)) }
    }

    public func signsAgain(after response: HTTPResponse) async -> Bool { state.learn(from: response) }

    public func reset() async { state.reset() }

    private static let algorithm = "AWS4-HMAC-SHA256"
    private static let unsigned = "UNSIGNED-PAYLOAD"

    /// Returns the time as `20260131T080000Z`, and what the key is for.
    private func scope() throws -> (time: String, scope: String) {
        let time = try state.time()
        return (time, "\(time.prefix(8))/\(region)/\(service)/aws4_request")
    }

    private func signature(of text: String, _ time: String, _ scope: String, _ keys: AWSCredentials) -> String {
        let hash = Hexadecimal.text(SHA256Hash.hash(Array(text.utf8)))
        let text = [Self.algorithm, time, scope, hash].joined(separator: "\n")
        return Hexadecimal.text(HMAC.sha256(text, key: state.key(scope, keys.secretKey)))
    }
}
