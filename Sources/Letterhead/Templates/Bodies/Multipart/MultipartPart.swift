// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension MultipartBody {
    /// A part of a ``MultipartBody``: a string, bytes, a file, a stream, or any other body.
    ///
    /// ```swift
    /// [.text("hi", name: "caption"), .file(at: url, name: "avatar"), .body(JSONBody(user), name: "user")]
    /// ```
    ///
    /// Set a `filename` if the server should treat a part as a file. Its extension then determines the media type,
    /// unless you set a `contentType`.
    ///
    /// - Names and filenames are sent in UTF-8, with quotation marks and line breaks escaped as in the WHATWG HTML
    ///   Standard, 4.10.21.8. Only form parts require a name.
    /// - Part headers follow the same rules as request headers. A Content-Type among them takes precedence, and a
    ///   Content-Disposition replaces the derived one.
    /// - A part with both a name and such a Content-Disposition is malformed, and sending the body fails.
    public struct Part: Sendable {
        package let body: any HTTPBody
        let fields: PartFields
        package var form: (name: String, filename: String?, type: String?)? { fields.form }

        private init(_ body: any HTTPBody, _ fields: PartFields) {
            (self.body, self.fields) = (body, fields)
        }

        func mapBody(_ change: (any HTTPBody) -> any HTTPBody) -> MultipartBody.Part {
            MultipartBody.Part(change(body), fields)
        }

        /// Returns the same part with its filename also as `filename*` (RFC 8187), for a server that doesn't read UTF-8
        /// in `filename`.
        ///
        /// RFC 7578 forbids it in forms, so use it only for a server that requires it. A part without a filename, or
        /// with a custom Content-Disposition, doesn't change.
        ///
        /// ```swift
        /// .file(at: url, name: "scan").withExtendedFilename()  // filename="é.png"; filename*=UTF-8''%C3%A9.png
        /// ```
        public func withExtendedFilename() -> MultipartBody.Part { MultipartBody.Part(body, fields.extended) }

        /// Creates a part from a string, which is not escaped. It is encoded in the charset of its media type, or in
        /// UTF-8 if there is none. Without a `filename` and a `contentType`, the part has no media type.
        public static func text(
            _ text: String, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
            headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            let type = headers.mediaType ?? contentType
            if let charset = type?["charset"], !ASCII.equalIgnoringCase(charset, "utf-8") {
                let body = TextBody(text, contentType: type ?? .plainText)
                return self.body(body, name: name, filename: filename, headers: headers)
            }
            return data(Data(text.utf8), name: name, filename: filename, contentType: contentType, headers: headers)
        }

        /// Creates a part from bytes. Without a `filename` and a `contentType`, the part has no media type.
        public static func data(
            _ data: Data, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
            headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            MultipartBody.Part(DataBody(data), PartFields(name, filename, contentType, headers))
        }

        /// Creates a part from a file. See ``FileBody``. By default, the filename is the last path component, and its
        /// extension determines the media type.
        public static func file(
            at url: URL, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
            headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            body(
                FileBody(at: url, contentType: contentType), name: name, filename: filename ?? url.lastPathComponent,
                headers: headers)
        }

        /// Creates a part from a closure that creates a new stream for each attempt. See ``StreamBody``. Without a
        /// `length`, the whole body has no known length.
        public static func stream<Stream: AsyncSequence & SendableMetatype>(
            length: Int? = nil, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
            headers: HTTPHeaders = [:], _ make: @escaping @Sendable () async throws -> Stream
        ) -> MultipartBody.Part where Stream.Element == Data {
            body(
                StreamBody(length: length, contentType: contentType, make), name: name, filename: filename,
                headers: headers
            )
        }

        /// Creates a part from any body with its headers: JSON, a one-shot stream, or a nested multipart body. The
        /// `headers` take precedence over the body headers.
        public static func body(
            _ body: any HTTPBody, name: String? = nil, filename: String? = nil, headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            var headers = headers
            headers.fill(from: body.additionalHeaders)
            return MultipartBody.Part(body, PartFields(name, filename, nil, headers))
        }
    }
}

extension MultipartBody.Part: CustomStringConvertible, CustomReflectable {
    /// The name and the length. The content is omitted, because it may be secret regardless of the name.
    public var description: String {
        let length = body.contentLength.map { "\($0) bytes" } ?? "length unknown"
        return "part \(fields.shownName.map { "\"\($0)\", " } ?? "")\(length)"
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}
