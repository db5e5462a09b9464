// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Verifies HTTP message signatures (RFC 9421) and the digests that they cover (RFC 9530).
///
/// ```swift
/// let verifier = MessageVerifier(requiring: ["@status", "content-digest"]) { claims in keys[claims.keyID ?? ""] }
/// try await verifier.verify(response)
/// ```
///
/// To accept only signed responses, pass it to a client in `validators`. It also verifies requests that your program
/// receives.
///
/// - A digest can be compared only if the body is in memory or in a downloaded file, and has no content coding.
/// - A download that resumes fails, because validators run before its file is complete.
/// - All signatures in a message may cover at most 100 components in total. Once one signature is valid, the others
///   aren't read.
/// - For a response from a cache, the age of the signature is measured at the time when the response was received.
public struct MessageVerifier: HTTPValidator {
    /// The parameters of a signature (RFC 9421, 2.3). Only after a verification are they known to be true.
    public struct Claims: Sendable {
        /// The label that distinguishes this signature from others in the message.
        public let label: String
        /// What the signer has added, or nil for each parameter that is missing.
        public let keyID, algorithm, nonce, tag: String?
        /// When the signature was created, and when it expires. Nil for a parameter that is missing.
        public let created, expires: Date?
    }

    private let required: [MessageComponent]
    private let maximumAge: Duration
    private let now: @Sendable () -> Date
    private let key: @Sendable (Claims) async throws -> SignatureKey?

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - required: the components that the signature must cover. It may cover more.
    ///   - maximumAge: the age up to which a signature is accepted. A minute is added, because clocks differ.
    ///   - now: returns the current date.
    ///   - key: returns the key for a signature, or nil to ignore the signature. Check its nonce and its tag here.
    public init(
        requiring required: [MessageComponent], maximumAge: Duration = .seconds(300),
        now: @escaping @Sendable () -> Date = { Date() },
        key: @escaping @Sendable (Claims) async throws -> SignatureKey?
    ) {
        (self.required, self.maximumAge, self.now, self.key) = (required, maximumAge, now, key)
    }

    /// Verifies a response to a request.
    ///
    /// - Returns: the claims of the valid signature.
    /// - Throws: `HTTPAuthentication.Failure` with the reason `.missingSignature`, `.invalidSignature` or `.malformed`,
    ///   or with `.misconfigured` if a covered digest can't be compared. Also errors from the key closure.
    @discardableResult
    public func verify(_ response: HTTPResponse) async throws -> Claims {
        let file = response.savedFile.map { FileBody(at: $0) as any HTTPBody }
        let content = file ?? response.body.buffered.map { DataBody($0, contentType: nil) }
        return try await verify(response.request, response, response.headers, content)
    }

    /// Verifies a received request. Its body must be replayable.
    ///
    /// - Returns: the claims of the valid signature.
    /// - Throws: `HTTPAuthentication.Failure` with the reason `.missingSignature`, `.invalidSignature` or `.malformed`,
    ///   or with `.misconfigured` if a covered digest can't be compared. Also errors from the key closure.
    @discardableResult
    public func verify(_ request: HTTPRequest) async throws -> Claims {
        let isReadable = request.body.isEmpty || request.body.isReplayable
        return try await verify(request, nil, request.headers, isReadable ? request.body : nil)
    }

    /// Accepts a response only if its signature is valid.
    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await verify(response)
        return .nextValidator
    }

    private func verify(
        _ request: HTTPRequest, _ response: HTTPResponse?, _ headers: HTTPHeaders, _ content: (any HTTPBody)?
    ) async throws -> Claims {
        guard let inputs = StructuredValue.dictionary(headers.values(for: "Signature-Input")), inputs.count <= 16,
            let signatures = StructuredValue.dictionary(headers.values(for: "Signature"))
        else { throw Failure(.malformed, "the field Signature or Signature-Input is malformed") }
        // An attacker can add signatures, and each component costs a pass over its value. So their number is limited.
        guard inputs.values.reduce(0, { $0 + $1.items.count }) <= 100 else {
            throw Failure(.malformed, "the signatures cover more than 100 components")
        }
        var parts = MessageParts(request, response)
        var failure = Failure(.missingSignature, "the message has no signature with a known key")
        for (label, input) in inputs.sorted(by: { $0.key < $1.key }) {
            guard let claims = Claims(label, input) else {
                failure = Failure(.malformed, "the signature \(label) has a parameter of a wrong type")
                continue
            }
            guard let key = try await key(claims) else { continue }
            do throws(Failure) {
                let components = input.items.compactMap { MessageComponent($0) }
                guard let signature = signatures[label]?.bytes, components.count == input.items.count else {
                    throw Failure(.malformed, "the signature or its parameters are malformed")
                }
                try check(claims, components, key, at: response?.receivedDate ?? now())
                let base = try MessageComponent.base(
                    components, as: input.items.map(\.text), parameters: input.text, in: &parts)
                guard (try? key.verifies(signature, of: base)) == true else {
                    throw Failure(.invalidSignature, "the signature doesn't match the message")
                }
                for digest in components where MessageComponent.digests.contains(digest.name) && !digest.isOfRequest {
                    try await Self.check(parts.lines(of: digest), headers, content)
                }
                return claims
            } catch { failure = error }
        }
        throw failure
    }

    private func check(
        _ claims: Claims, _ components: [MessageComponent], _ key: SignatureKey, at now: Date
    ) throws(Failure) {
        let age = claims.created.map { Duration.seconds(now.timeIntervalSince($0)) }
        guard let age, age <= maximumAge + .seconds(60), age >= .seconds(-60), claims.expires.map({ $0 > now }) ?? true
        else {
            throw Failure(
                .invalidSignature, "the signature has expired, is dated in the future, or has no created time")
        }
        guard claims.algorithm.map({ $0.isSame(as: key.algorithm.name) }) ?? true else {
            throw Failure(.invalidSignature, "the signature and its key use different algorithms")
        }
        if let missing = required.first(where: { !components.contains($0) }) {
            throw Failure(.invalidSignature, "the signature doesn't cover \(missing.text)")
        }
    }

    private static func check(
        _ values: [String], _ headers: HTTPHeaders, _ content: (any HTTPBody)?
    ) async throws(Failure) {
        guard let content, !headers.contains(.contentEncoding) else {
            throw Failure(.misconfigured, "the digest can't be verified, because the body is streamed or compressed")
        }
        let digests = StructuredValue.dictionary(values) ?? [:]
        var known: [Bool] = []
        do {
            var message = HTTPRequest()
            message.body = content
            if let digest = digests["sha-256"] {
                known.append(digest.bytes == (try await SignedBody(message, need: .digest)).digest)
            }
            if let digest = digests["sha-512"], !(content is FileBody) {
                known.append(digest.bytes == SHA512Hash.hash(Array(try content.encode())))
            }
        } catch { throw Failure(.misconfigured, "the digest can't be verified: \(HTTPError.summary(of: error))") }
        guard !known.isEmpty else {
            let rule = "the digest uses none of the supported algorithms: sha-256, or sha-512 for a body in memory"
            throw Failure(.invalidSignature, rule)
        }
        guard !known.contains(false) else { throw Failure(.invalidSignature, "the body doesn't match its digest") }
    }
}

extension MessageVerifier.Claims {
    /// Returns nil if a parameter doesn't have the type that RFC 9421, 2.3 requires.
    init?(_ label: String, _ input: StructuredValue) {
        let texts = ["keyid", "alg", "nonce", "tag"].map { input.parameters[$0] }
        let times = ["created", "expires"].map { input.parameters[$0] }
        guard texts.allSatisfy({ $0?.isString ?? true }),
            times.allSatisfy({ $0.map { Int64($0.text) != nil } ?? true })
        else { return nil }
        self.label = label
        (keyID, algorithm, nonce, tag) = (texts[0]?.value, texts[1]?.value, texts[2]?.value, texts[3]?.value)
        let dates = times.map { $0.flatMap { Int64($0.text) }.map { Date(timeIntervalSince1970: Double($0)) } }
        (created, expires) = (dates[0], dates[1])
    }
}

extension HTTPAuthentication.Failure.Reason {
    /// A received message has no signature with a known key.
    public static let missingSignature = Self(rawValue: "missingSignature")
    /// A received message has a signature that is wrong or too old, or doesn't cover a required component.
    public static let invalidSignature = Self(rawValue: "invalidSignature")
}
