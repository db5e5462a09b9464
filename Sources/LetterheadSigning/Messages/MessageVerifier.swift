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
        let inputs = StructuredMember.members(of: headers.values(for: "Signature-Input"))
        let signatures = StructuredMember.members(of: headers.values(for: "Signature"))
        var failure = HTTPAuthentication.Failure(.missingSignature, "the message has no signature with a known key")
        for input in inputs ?? [] {
            let claims = Claims(input)
            guard let key = try await key(claims) else { continue }
            do throws(HTTPAuthentication.Failure) {
                let components = input.items.compactMap { MessageComponent($0) }
                guard let signature = signatures?.last(where: { $0.key.isSame(as: input.key) })?.bytes,
                    components.count == input.items.count
                else { throw Self.failure(.malformed, "the signature or its parameters are malformed") }
                try check(claims, components, key)
                let base = try MessageComponent.base(components, parameters: input.text, in: request, response)
                guard (try? key.verifies(signature, of: base)) == true else {
                    throw Self.failure(.invalidSignature, "the signature doesn't match the message")
                }
                for name in ["content-digest", "repr-digest"]
                where components.contains(where: { $0.text == "\"\(name)\"" }) {
                    try Self.check(headers.values(for: HTTPHeaders.Name(name)), headers, try? body())
                }
                return claims
            } catch { failure = error }
        }
        if headers.contains("Signature-Input"), inputs == nil {
            throw Self.failure(.malformed, "the field Signature-Input is malformed")
        }
        throw failure
    }

    private func check(
        _ claims: Claims, _ components: [MessageComponent], _ key: SignatureKey
    ) throws(HTTPAuthentication.Failure) {
        let now = now()
        let age = claims.created.map { Duration.seconds(now.timeIntervalSince($0)) }
        guard let age, age <= maximumAge + .seconds(60), age >= .seconds(-60), claims.expires.map({ $0 > now }) ?? true
        else { throw Self.failure(.invalidSignature, "the signature has expired, or its time is missing") }
        guard claims.algorithm.map({ $0.isSame(as: key.algorithm.rawValue) }) ?? true else {
            throw Self.failure(.invalidSignature, "the signature names another algorithm than its key has")
        }
        if let missing = required.first(where: { component in !components.contains { $0.text == component.text } }) {
            throw Self.failure(.invalidSignature, "the signature doesn't cover \(missing.text)")
        }
    }

    private static func check(
        _ values: [String], _ headers: HTTPHeaders, _ body: Data?
    ) throws(HTTPAuthentication.Failure) {
        guard let body, !headers.contains(.contentEncoding) else {
            throw failure(.misconfigured, "the digest can't be compared: the body is streamed or compressed")
        }
        let known = (StructuredMember.members(of: values) ?? []).compactMap { member -> Bool? in
            switch member.key {
            case "sha-256": member.bytes == SHA256Hash.hash(Array(body))
            case "sha-512": member.bytes == SHA512Hash.hash(Array(body))
            default: nil
            }
        }
        guard !known.isEmpty, !known.contains(false) else {
            throw failure(.invalidSignature, "the body doesn't match its digest")
        }
    }

    private static func failure(_ reason: HTTPAuthentication.Failure.Reason, _ rule: String)
        -> HTTPAuthentication.Failure
    {
        HTTPAuthentication.Failure(reason, rule)
    }
}

extension MessageVerifier.Claims {
    init(_ member: StructuredMember) {
        func date(_ name: String) -> Date? {
            member.parameter(name).flatMap { Int64($0) }.map { Date(timeIntervalSince1970: Double($0)) }
        }
        label = member.key
        (keyID, algorithm) = (member.parameter("keyid"), member.parameter("alg"))
        (nonce, tag) = (member.parameter("nonce"), member.parameter("tag"))
        (created, expires) = (date("created"), date("expires"))
    }
}

extension HTTPAuthentication.Failure.Reason {
    /// A received message has no signature with a known key.
    public static let missingSignature = Self(rawValue: "missingSignature")
    /// A received message's signature is wrong, too old, or doesn't cover what it must.
    public static let invalidSignature = Self(rawValue: "invalidSignature")
}
