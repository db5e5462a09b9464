public import Foundation

/// One part of a ``MultipartBody``: a text, bytes, a file, a stream, or any other body.
///
/// ```swift
/// [.text("hi", name: "caption"), .file(at: url, name: "avatar"), .body(JSONBody(user), name: "user")]
/// ```
///
/// Names and filenames are escaped as the WHATWG's HTML standard says, 4.10.21.8: quotation marks and line breaks cannot
/// end the field, everything else goes out as UTF-8. The parts of a form need a name, those of other kinds do not.
/// Further headers are checked like those of a request; a Content-Type or Content-Disposition among them wins.
public struct MultipartPart: Sendable {
    enum Content: Sendable {
        case text(String)
        case data(Data)
        case body(any HTTPBody)
        /// The body when it was asked for its bytes, and they are not in memory.
        case pulled(BodyChunks)
    }

    let content: Content
    /// The header lines, and the empty line behind them.
    let fields: PartFields
    /// How many bytes the content has that is in memory; nil for any other.
    let countInMemory: Int?

    private init(_ content: Content, fields: PartFields, countInMemory: Int? = nil) {
        (self.content, self.fields, self.countInMemory) = (content, fields, countInMemory)
    }

    /// The same part, its body asked for its bytes.
    func with(_ chunks: BodyChunks) -> MultipartPart {
        guard let data = chunks.data else { return MultipartPart(.pulled(chunks), fields: fields) }
        return MultipartPart(.data(data), fields: fields, countInMemory: data.count)
    }

    /// How many bytes the content has, when that is known.
    var contentLength: Int? {
        if let countInMemory { return countInMemory }
        return switch content {
        case .text, .data: nil
        case .body(let body): body.contentLength
        case .pulled(let chunks): chunks.length
        }
    }

    /// A text, in the charset that its media type names, or UTF-8 when it names none.
    ///
    /// - Parameters:
    ///   - text: the text, which goes out as it is.
    ///   - name: the name of the field.
    ///   - filename: the name of a file, to have it taken for one. Default: none.
    ///   - contentType: what it is. Default: by the extension of the filename; not said without one.
    ///   - headers: further headers. Default: none.
    public static func text(
        _ text: String, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
        headers: HTTPHeaders = [:]
    ) -> MultipartPart {
        let type = headers.mediaType ?? contentType
        if let charset = type?["charset"], !ASCII.equalIgnoringCase(charset, "utf-8") {
            let body = TextBody(text, contentType: type ?? .plainText)
            return self.body(body, name: name, filename: filename, headers: headers)
        }
        return MultipartPart(
            .text(text), fields: PartFields(name, filename, contentType, headers), countInMemory: text.utf8.count)
    }

    /// Bytes.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - name: the name of the field.
    ///   - filename: the name of a file, to have it taken for one. Default: none.
    ///   - contentType: what they are. Default: by the extension of the filename; not said without one.
    ///   - headers: further headers. Default: none.
    public static func data(
        _ data: Data, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
        headers: HTTPHeaders = [:]
    ) -> MultipartPart {
        MultipartPart(
            .data(data), fields: PartFields(name, filename, contentType, headers), countInMemory: data.count)
    }

    /// A file, pulled while it is sent; see ``FileBody``.
    ///
    /// - Parameters:
    ///   - url: where it is.
    ///   - name: the name of the field.
    ///   - filename: the name that the server is told. Default: the last component of the path.
    ///   - contentType: what it is. Default: by the extension of the file.
    ///   - headers: further headers. Default: none.
    public static func file(
        at url: URL, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
        headers: HTTPHeaders = [:]
    ) -> MultipartPart {
        body(
            FileBody(at: url, contentType: contentType), name: name, filename: filename ?? url.lastPathComponent,
            headers: headers)
    }

    /// A stream that is made anew each time the body is sent; see ``StreamBody``.
    ///
    /// - Parameters:
    ///   - length: how many bytes it has. Default: not known, and so is the length of the whole.
    ///   - name: the name of the field.
    ///   - filename: the name of a file, to have it taken for one. Default: none.
    ///   - contentType: what it is. Default: by the extension of the filename; not said without one.
    ///   - headers: further headers. Default: none.
    ///   - make: makes the stream, when its first bytes are asked for.
    public static func stream<Stream: AsyncSequence & SendableMetatype>(
        length: Int? = nil, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
        headers: HTTPHeaders = [:], _ make: @escaping @Sendable () async throws -> Stream
    ) -> MultipartPart where Stream.Element == Data {
        body(
            StreamBody(length: length, contentType: contentType, make), name: name, filename: filename, headers: headers
        )
    }

    /// Any body, with the headers that it brings: JSON, a stream in hand, a multipart body within this one.
    ///
    /// - Parameters:
    ///   - body: the content.
    ///   - name: the name of the field.
    ///   - filename: the name of a file, to have it taken for one. Default: none.
    ///   - headers: further headers; they win over those of the body. Default: none.
    public static func body(
        _ body: any HTTPBody, name: String? = nil, filename: String? = nil, headers: HTTPHeaders = [:]
    ) -> MultipartPart {
        var headers = headers
        headers.fill(from: body.additionalHeaders)
        return MultipartPart(.body(body), fields: PartFields(name, filename, nil, headers))
    }
}

extension MultipartPart: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its name and its length; what it holds may be a secret, whatever it is called.
    public var description: String {
        let length = contentLength.map { "\($0) bytes" } ?? "length unknown"
        return "part \(fields.shownName.map { "\"\($0)\", " } ?? "")\(length)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// Which multipart type a body is (RFC 2046, 5.1; RFC 7578 for forms); an open set.
public struct MultipartKind: RawRepresentable, Hashable, Sendable {
    /// The subtype, `form-data`.
    public let rawValue: String

    /// Makes a subtype of your own; one that is no token is refused before anything is sent.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A form with files: every part has a name (RFC 7578).
    public static let formData = Self(rawValue: "form-data")
    /// Independent parts in order (RFC 2046, 5.1.3).
    public static let mixed = Self(rawValue: "mixed")
    /// The same content in several formats, the best one last (RFC 2046, 5.1.4).
    public static let alternative = Self(rawValue: "alternative")
    /// Parts that refer to each other, the first one being the root (RFC 2387).
    public static let related = Self(rawValue: "related")
}
