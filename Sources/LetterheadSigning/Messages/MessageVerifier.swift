// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// Verifies HTTP message signatures (RFC 9421) and the digests that they cover (RFC 9530), for responses, and for
/// requests that a program receives. Pass it to a client's `validators` to accept only signed responses.
///
/// ```swift
/// let verifier = MessageVerifier(requiring: ["@status", "content-digest"]) { claims in keys[claims.keyID ?? ""] }
/// try await verifier.verify(response)
/// ```
///
/// The body must be in memory and, for a digest, without a content coding. The other signatures of a message aren't
/// read once one is valid.
public struct MessageVerifier: HTTPValidator {
    /// What a signature states about itself.
    public struct Claims: Sendable {
        public let label: String
        public let keyID, algorithm, nonce, tag: String?
        public let created, expires: Date?
    }

    private let required: [MessageComponent]
    private let maximumAge: Duration
    private let now: @Sendable () -> Date
    private let key: @Sendable (Claims) async throws -> SignatureKey?

    /// - Parameters:
    ///   - required: what the signature must cover. It may cover more.
    ///   - maximumAge: the age at which a signature is refused. A minute is added for different clocks.
    ///   - now: returns the current date.
    ///   - key: returns the key for a signature, or nil to ignore it. Check its nonce and its tag here.
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
    /// - Throws: `HTTPAuthentication.Failure` with the reason `.missingSignature`, `.invalidSignature` or `.malformed`.
    @discardableResult
    public func verify(_ response: HTTPResponse) async throws -> Claims {
        try await verify(response.request, response, response.headers) { response.body.buffered }
    }

    /// Verifies a received request. Its body must be replayable.
    ///
    /// - Returns: the claims of the valid signature.
    /// - Throws: `HTTPAuthentication.Failure` with the reason `.missingSignature`, `.invalidSignature` or `.malformed`.
    @discardableResult
    public func verify(_ request: HTTPRequest) async throws -> Claims {
        try await verify(request, nil, request.headers) { request.body.isReplayable ? try request.body.encode() : nil }
    }

    public func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
        try await verify(response)
        return .nextValidator
    }

    private func verify(
        _ request: HTTPRequest, _ response: HTTPResponse?, _ headers: HTTPHeaders, _ body: () throws -> Data?
    ) async throws -> Claims {
        guard let inputs = StructuredValue.dictionary(headers.values(for: "Signature-Input")), inputs.count <= 16,
            let signatures = StructuredValue.dictionary(headers.values(for: "Signature"))
        else { throw Failure(.malformed, "the field Signature or Signature-Input is malformed") }
        var failure = Failure(.missingSignature, "the message has no signature with a known key")
        for (label, input) in inputs.sorted(by: { $0.key < $1.key }) {
            let claims = Claims(label, input)
            guard let key = try await key(claims) else { continue }
            do throws(Failure) {
                let components = input.items.compactMap { MessageComponent($0) }
                // Each component may cost a pass over the message.
                guard let signature = signatures[label]?.bytes, components.count == input.items.count,
                    components.count <= 100
                else { throw Failure(.malformed, "the signature or its parameters are malformed") }
                try check(claims, components, key)
                let base = try MessageComponent.base(
                    components, as: input.items.map(\.text), parameters: input.text, in: request, response)
                guard (try? key.verifies(signature, of: base)) == true else {
                    throw Failure(.invalidSignature, "the signature doesn't match the message")
                }
                for digest in components where MessageComponent.digests.contains(digest.name) && !digest.isOfRequest {
                    try Self.check(digest.lines(in: request, response), headers, try? body())
                }
                return claims
            } catch { failure = error }
        }
        throw failure
    }

    private func check(_ claims: Claims, _ components: [MessageComponent], _ key: SignatureKey) throws(Failure) {
        let now = now()
        let age = claims.created.map { Duration.seconds(now.timeIntervalSince($0)) }
        guard let age, age <= maximumAge + .seconds(60), age >= .seconds(-60), claims.expires.map({ $0 > now }) ?? true
        else { throw Failure(.invalidSignature, "the signature has expired, or its time is missing") }
        guard claims.algorithm.map({ $0.isSame(as: key.algorithm.name) }) ?? true else {
            throw Failure(.invalidSignature, "the signature names another algorithm than its key has")
        }
        if let missing = required.first(where: { !components.contains($0) }) {
            throw Failure(.invalidSignature, "the signature doesn't cover \(missing.text)")
        }
    }

    private static func check(_ values: [String], _ headers: HTTPHeaders, _ body: Data?) throws(Failure) {
        guard let body, !headers.contains(.contentEncoding) else {
            throw Failure(.misconfigured, "the digest can't be compared: the body is streamed or compressed")
        }
        let digests = StructuredValue.dictionary(values) ?? [:]
        let known = [("sha-256", SHA256Hash.hash), ("sha-512", SHA512Hash.hash)].compactMap { name, hash in
            digests[name].map { $0.bytes == hash(Array(body)) }
        }
        guard !known.isEmpty, !known.contains(false) else {
            throw Failure(.invalidSignature, "the body doesn't match its digest")
        }
    }
}

extension MessageVerifier.Claims {
    init(_ label: String, _ input: StructuredValue) {
        // A malformed time is in the past, so that it isn't ignored.
        func date(_ name: String) -> Date? {
            input.parameters[name].map { Date(timeIntervalSince1970: Double(Int64($0) ?? 0)) }
        }
        self.label = label
        (keyID, algorithm) = (input.parameters["keyid"], input.parameters["alg"])
        (nonce, tag) = (input.parameters["nonce"], input.parameters["tag"])
        (created, expires) = (date("created"), date("expires"))
    }
}

extension HTTPAuthentication.Failure.Reason {
    /// A received message has no signature with a known key.
    public static let missingSignature = Self(rawValue: "missingSignature")
    /// A received message's signature is wrong, too old, or doesn't cover what it must.
    public static let invalidSignature = Self(rawValue: "invalidSignature")
}
