// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// One signature of a message: its key, and the parts that it covers (RFC 9421, 3.1).
public struct MessageSignature: Sendable {
    let key: SignatureKey
    let keyID: String?
    let label: String
    let components: [MessageComponent]
    let lifetime: Duration?
    let tag: String?
    let nonce: (@Sendable () -> String)?
    let namesAlgorithm: Bool

    /// Creates the description of a signature.
    ///
    /// - Parameters:
    ///   - key: a private key or a shared secret.
    ///   - keyID: tells the receiver which key to use. Default: nil.
    ///   - label: distinguishes several signatures of one message.
    ///   - components: the parts that the signature covers. If `Content-Digest` or `Repr-Digest` (RFC 9530) is listed
    ///     and the request doesn't have it, the signer adds it. If the request has no body, neither is covered.
    ///   - lifetime: how long the signature is valid. Default: nil (the receiver decides).
    ///   - tag: names the protocol that uses the signature. Default: nil.
    ///   - nonce: returns a new value for each signature, so that the receiver can detect replays. Default: nil.
    ///   - namesAlgorithm: whether the signature contains the algorithm. Default: false, because the key determines it.
    public init(
        key: SignatureKey, keyID: String? = nil, label: String = "sig1",
        components: [MessageComponent] = ["@method", "@target-uri", "content-digest"], lifetime: Duration? = nil,
        tag: String? = nil, nonce: (@Sendable () -> String)? = nil, namesAlgorithm: Bool = false
    ) {
        (self.key, self.keyID, self.label, self.components) = (key, keyID, label, components)
        (self.lifetime, self.tag, self.nonce, self.namesAlgorithm) = (lifetime, tag, nonce, namesAlgorithm)
    }

    func parameters(_ covered: [MessageComponent], at date: Date) -> String {
        let created = Int64(date.timeIntervalSince1970)
        var text = "(\(covered.map(\.text).joined(separator: " ")));created=\(created)"
        if let lifetime { text += ";expires=\(created + lifetime.components.seconds)" }
        if let keyID { text += ";keyid=" + ASCII.quoted(keyID) }
        if namesAlgorithm { text += ";alg=\"\(key.algorithm.name)\"" }
        if let nonce { text += ";nonce=" + ASCII.quoted(nonce()) }
        return text + (tag.map { ";tag=" + ASCII.quoted($0) } ?? "")
    }
}

/// Signs requests with HTTP message signatures (RFC 9421).
///
/// ```swift
/// let signature = MessageSignature(key: try SignatureKey(pem: pem), keyID: "letters-2026")
/// let client = HTTPClient(environment: .production, authentication: .signing(by: MessageSigner(signature)))
/// ```
public struct MessageSigner: RequestSigner {
    private let signatures: [MessageSignature]
    private let now: @Sendable () -> Date

    /// Creates a signer that adds one or several signatures, in this order.
    ///
    /// To cover an earlier signature with a later one, use ``MessageComponent/member(_:of:)``.
    public init(_ signatures: MessageSignature..., now: @escaping @Sendable () -> Date = { Date() }) {
        (self.signatures, self.now) = (signatures, now)
    }

    public func bodyNeed(for request: HTTPRequest) -> SignedBody.Need {
        !request.body.isEmpty && digests.contains { !request.headers.contains($0) } ? .digest : .nothing
    }

    /// Adds the body digests that are missing, and then the fields `Signature-Input` and `Signature` of each signature.
    ///
    /// - Throws: `HTTPAuthentication.Failure` if the message lacks a covered component, if it already has a signature
    ///   with the same label, or if the key can't sign.
    public func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
        if let digest = body.digest, !request.body.isEmpty {
            let value = "sha-256=:\(Data(digest).base64EncodedString()):"
            for name in digests where !request.headers.contains(name) { request.headers[name] = value }
        }
        for signature in signatures {
            let existing = StructuredValue.dictionary(request.headers.values(for: "Signature-Input"))
            guard existing?[signature.label] == nil else {
                throw Failure(.misconfigured, "the message already has a signature with the label \(signature.label)")
            }
            let covered = signature.components.filter {
                !request.body.isEmpty || !MessageComponent.digests.contains($0.name)
            }
            let parameters = signature.parameters(covered, at: now())
            var parts = MessageParts(request)
            let base = try MessageComponent.base(covered, parameters: parameters, in: &parts)
            let value = Data(try await signature.key.sign(base)).base64EncodedString()
            request.headers.append("Signature-Input", "\(signature.label)=\(parameters)")
            request.headers.append("Signature", "\(signature.label)=:\(value):")
        }
    }

    public func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] {
        signatures.flatMap(\.components).map { HTTPHeaders.Name($0.name) }
    }

    private var digests: [HTTPHeaders.Name] {
        MessageComponent.digests.intersection(signatures.flatMap(\.components).map(\.name)).map { HTTPHeaders.Name($0) }
    }
}
