// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body with several parts (RFC 2046, 5.1): a form with files (RFC 7578), or a different multipart type.
///
/// ```swift
/// MultipartBody([
///     .text("hi", name: "caption"),
///     .file(at: url, name: "avatar"),
/// ])
/// ```
///
/// To add parts to a template instead of writing its body, use ``RequestTemplate/multipart(_:subtype:)``. Sending reads
/// files and streams in pieces, while ``encode()`` reads them as a whole. The length is known if every part has a known
/// length.
///
/// The subtype is one of these, or any other token:
///
/// - `form-data`: a form with files (RFC 7578). Every part needs a name. This is the default.
/// - `mixed`: independent parts in order (RFC 2046, 5.1.3).
/// - `alternative`: the same content in several formats, the preferred one last (RFC 2046, 5.1.4).
/// - `related`: parts that refer to each other, the root first (RFC 2387).
///
/// You don't need to set a boundary. By default, it has 189 random bits, so no part can contain it by accident. A value
/// keeps its boundary, so every retry sends the same bytes.
public struct MultipartBody: HTTPBody, SteadyBody {
    /// The parts, in the order in which they are sent.
    public let parts: [MultipartBody.Part]
    /// The second half of the media type, such as `form-data`.
    public let subtype: String
    /// The delimiter between the parts. It must not occur in any of them.
    public let boundary: String

    /// Creates a body. If the subtype, the boundary or a part is malformed, sending fails with
    /// ``HTTPBodyError/invalid(_:file:)`` before anything is sent.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - subtype: the second half of the media type, as in `multipart/form-data`.
    ///   - boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending with a space. The parts are not
    ///     searched for it, so set one only if no part can contain it. Default: nil (a random one).
    public init(_ parts: [MultipartBody.Part], subtype: String = "form-data", boundary: String? = nil) {
        (self.parts, self.subtype, self.boundary) = (parts, subtype, boundary ?? Self.randomBoundary)
    }

    /// 189 random bits as 48 hexadecimal digits, which never need quoting.
    private static var randomBoundary: String {
        (0..<3).map { _ in String(UInt64.random(in: 1 << 63 ... .max), radix: 16) }.joined()
    }

    /// Whether the body is a form, so that every part needs a name. A subtype isn't case-sensitive (RFC 2046, 5.1).
    package var isForm: Bool { ASCII.lowercased(subtype) == "form-data" }

    /// Returns the same body with further parts at its end.
    func adding(_ added: [MultipartBody.Part]) -> MultipartBody {
        MultipartBody(parts + added, subtype: subtype, boundary: boundary)
    }

    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> MultipartBody? {
        guard parts.contains(where: { !($0.body is DataBody) }) else { return nil }
        return MultipartBody(parts.map { $0.mapBody(change) }, subtype: subtype, boundary: boundary)
    }

    /// The Content-Type with the boundary. For related parts, it also contains the type of the first part (RFC 2387,
    /// 3.1). With an invalid subtype, it is absent, because such a body cannot be sent.
    public var additionalHeaders: HTTPHeaders {
        guard ASCII.isToken(subtype) else { return [:] }
        let isToken = ASCII.isToken(boundary)
        var type = "multipart/\(subtype); boundary=\(isToken ? boundary : "\"\(boundary)\"")"
        if ASCII.lowercased(subtype) == "related", let root = parts.first?.fields.type.flatMap({ MediaType($0) }) {
            type += "; type=\"\(root.essence)\""
        }
        return [.contentType: type]
    }

    /// Whether all parts can be sent again. One part with a one-shot stream is enough to prevent it.
    public var isReplayable: Bool { parts.allSatisfy(\.body.isReplayable) }

    /// The number of bytes. Nil if a part has no known length.
    public var contentLength: Int? {
        segments { BodyChunks(length: $0.contentLength) { nil } }.length
    }

    /// Reads the whole body into memory, including its files. To read it in pieces, use ``chunks()``.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the subtype, the boundary or a part is malformed,
    ///   ``HTTPBodyError/notInMemory(type:)`` for a stream, and errors from the part bodies.
    public func encode() throws -> Data {
        try check()
        return try segments { BodyChunks(try $0.encode()) }.data()
    }

    /// Returns the body in one piece if it is in memory and has at most 1 MiB, and otherwise in several. Each call
    /// starts at the first byte.
    ///
    /// - Throws: the errors of ``encode()``, except for a stream, which it reads.
    public func chunks() throws -> BodyChunks {
        try check()
        return try segments { try $0.chunks().held(to: $0.contentLength) }.chunks()
    }

    /// Returns the layout of the body (RFC 2046, 5.1.1), with the contents that a closure returns.
    private func segments(_ content: (any HTTPBody) throws -> BodyChunks) rethrows -> MultipartSegments {
        // Every delimiter except the first ends the preceding content.
        let delimiter = Data("\r\n--\(boundary)\r\n".utf8)
        var segments: [BodyChunks] = []
        segments.reserveCapacity(3 * parts.count + 1)
        for index in parts.indices {
            segments.append(BodyChunks(index == 0 ? delimiter.dropFirst(2) : delimiter))
            segments.append(BodyChunks(Data(parts[index].fields.lines)))
            do {
                segments.append(try content(parts[index].body))
            } catch let error as HTTPBodyError {
                throw error.inside(part: index)
            }
        }
        segments.append(BodyChunks(Data("\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8)))
        return MultipartSegments(segments: segments)
    }
}

extension MultipartBody: CustomStringConvertible, CustomReflectable {
    /// The media type, and the name and the length of each part.
    public var description: String {
        "multipart/\(subtype): \(parts.map(\.description).joined(separator: ", "))"
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPBodyError {
    /// Returns the same error with a part number in its message.
    func inside(part index: Int) -> HTTPBodyError {
        guard case .invalid(let message, let file) = self else { return self }
        return .invalid("part \(index + 1): \(message)", file: file)
    }
}

extension MultipartBody {
    /// Checks the body without opening any files.
    func check() throws(HTTPBodyError) {
        if !ASCII.isToken(subtype) {
            throw HTTPBodyError.invalid("the subtype of the multipart body is not a token of RFC 9110")
        }
        for index in parts.indices {
            if let rule = parts[index].fields.brokenRule {
                throw HTTPBodyError.invalid("part \(index + 1) is refused: \(rule)")
            }
            if isForm, !parts[index].fields.isOfForm {
                throw HTTPBodyError.invalid(
                    "part \(index + 1) has no name, and the parts of a form need one (RFC 7578, 4.2)")
            }
        }
        if let rule = brokenRuleOfBoundary { throw HTTPBodyError.invalid(rule) }
    }

    /// The violated rule of RFC 2046, 5.1.1. Nil if the boundary is valid.
    private var brokenRuleOfBoundary: String? {
        if boundary.isEmpty { return "the boundary is empty" }
        if boundary.utf8.count > 70 { return "the boundary has more than 70 characters" }
        if boundary.utf8.last == UInt8(ascii: " ") { return "the boundary ends with a space" }
        let isAllowed = ASCII.allBytes(of: boundary) { byte in
            switch byte {
            case 48...58, 65...90, 97...122, 0x20, 0x27...0x29, 0x2B...0x2F, 0x3D, 0x3F, 0x5F: true
            default: false
            }
        }
        return isAllowed
            ? nil
            : "the boundary has a character other than letters, digits, space and '()+_,-./:=? (RFC 2046, 5.1.1)"
    }
}
