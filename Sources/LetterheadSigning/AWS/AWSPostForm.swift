// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

/// A form that lets a browser upload an object to S3 without an access key (POST policy).
///
/// ```swift
/// let form = try await signer.presignedForm(
///     to: URL(string: "https://letters.s3.eu-central-1.amazonaws.com/")!, bucket: "letters",
///     key: "inbox/${filename}", length: 1...1 << 20, expiresIn: .seconds(600))
/// ```
///
/// Write a form of the type `multipart/form-data`, with a hidden input for each field and a file input named `file` as
/// the last one. Anyone who has the fields can upload until they expire.
public struct AWSPostForm: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL that the form is sent to.
    public let url: URL
    /// The names and values of the form fields. They contain the signature.
    public let fields: [String: String]

    /// The URL and the names of the fields.
    public var description: String {
        "AWSPostForm(\(Redaction.visible(url.absoluteString)): \(fields.keys.sorted().joined(separator: ", ")))"
    }

    /// Contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

extension AWSSigner {
    /// Returns the fields of a form that uploads one object.
    ///
    /// - Parameters:
    ///   - url: the bucket URL.
    ///   - bucket: the bucket name.
    ///   - key: the object key. If it ends with `${filename}`, S3 replaces this by the file name.
    ///   - fields: fields that the form must have with these values, such as `Content-Type`. Default: none.
    ///   - length: how many bytes the file may have.
    ///   - duration: how long the form can be used: a second to seven days. Temporary credentials may end earlier.
    /// - Throws: `.cannotAuthenticate` with the error of the credential provider. `.invalidRequest` for a duration out
    ///   of range, a negative length, or a field that the signer writes itself.
    public func presignedForm(
        to url: URL, bucket: String, key: String, fields: [String: String] = [:], length: ClosedRange<Int>,
        expiresIn duration: Duration
    ) async throws -> AWSPostForm {
        let request = HTTPRequest(method: .post, url: url)
        try Self.check(duration, for: request)
        let credentials = try await state.credentials(for: request)
        let seal = try seal(credentials, for: request)
        var signed = [
            "x-amz-algorithm": AWSSeal.algorithm, "x-amz-credential": "\(credentials.accessKey)/\(seal.scope)",
            "x-amz-date": seal.time,
        ]
        signed["x-amz-security-token"] = credentials.sessionToken?.reveal()
        let own = signed.keys + ["bucket", "file", "key", "policy", "x-amz-signature"]
        let taken = fields.keys.first { own.contains(ASCII.lowercased($0)) }
        if let rule = taken.map({ "the signer sets the form field \($0) itself (remove it from fields)" })
            ?? (length.lowerBound < 0 ? "the lower bound of length is negative (use 0 or more)" : nil)
        {
            throw HTTPError(.invalidRequest, request: request, message: rule)
        }
        signed.merge(fields) { first, _ in first }
        var conditions = signed.sorted { $0.key < $1.key }.map { JSONValue.object([$0.key: .string($0.value)]) }
        let name = "${filename}"
        let start = JSONValue.string(String(key.dropLast(name.count)))
        conditions += [
            key.ends(with: name) ? .array(["starts-with", "$key", start]) : .object(["key": .string(key)]),
            .object(["bucket": .string(bucket)]),
            .array([
                "content-length-range", .int(Int64(length.lowerBound)), .int(Int64(length.upperBound)),
            ]),
        ]
        let end = state.date(at: request.origin).addingTimeInterval(duration / .seconds(1)).internetTime ?? ""
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let policy: JSONValue = .object(["expiration": .string(end), "conditions": .array(conditions)])
        let text = try encoder.encode(policy).base64EncodedString()
        signed["key"] = key
        signed["policy"] = text
        signed["x-amz-signature"] = Hexadecimal.text(seal.code(text))
        return AWSPostForm(url: url, fields: signed)
    }
}
