// SPDX-License-Identifier: MIT
public import LetterheadFoundation

extension MultipartBody {
    /// A part of a ``MultipartBody``: a string, bytes, a file, a stream, or any other body. Set a `filename` if the
    /// server should treat a part as a file; its extension then determines the media type, unless you set a
    /// `contentType`.
    ///
    /// ```swift
    /// [.text("hi", name: "caption"), .file(at: url, name: "avatar"), .body(JSONBody(user), name: "user")]
    /// ```
    ///
    /// Names and filenames are escaped as in the WHATWG HTML Standard, 4.10.21.8: quotation marks and line breaks are
    /// replaced, so that they cannot end the field. All other characters are sent as UTF-8. The parts of a form require a
    /// name; those of other multipart types do not. Further headers are checked like those of a request. A Content-Type
    /// among them takes precedence. A Content-Disposition among them replaces the derived one. A part with both a name and
    /// such a Content-Disposition is malformed, and the body cannot be sent.
    public struct Part: Sendable {
        package let body: any HTTPBody
        package let fields: PartFields

        private init(_ body: any HTTPBody, _ fields: PartFields) {
            (self.body, self.fields) = (body, fields)
        }

        /// Returns the same part with another body.
        func mapBody(_ change: (any HTTPBody) -> any HTTPBody) -> MultipartBody.Part {
            MultipartBody.Part(change(body), fields)
        }

        /// Creates a part from a string, which is not escaped. It is encoded in the charset of its media type, or in
        /// UTF-8 if that has none. Without a `filename` and a `contentType`, the part has no media type.
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

        /// Creates a part from a file, which is read while it is sent; see ``FileBody``. By default, the filename is
        /// the last component of the path, whose extension determines the media type.
        public static func file(
            at url: URL, name: String? = nil, filename: String? = nil, contentType: MediaType? = nil,
            headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            body(
                FileBody(at: url, contentType: contentType), name: name, filename: filename ?? url.lastPathComponent,
                headers: headers)
        }

        /// Creates a part from a stream that is created anew each time the body is sent; see ``StreamBody``. Without a
        /// `length`, the length of the whole body is not known either.
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
        /// further `headers` take precedence over those of the body.
        public static func body(
            _ body: any HTTPBody, name: String? = nil, filename: String? = nil, headers: HTTPHeaders = [:]
        ) -> MultipartBody.Part {
            var headers = headers
            headers.fill(from: body.additionalHeaders.httpHeaders)
            return MultipartBody.Part(body, PartFields(name, filename, nil, headers))
        }
    }
}

extension MultipartBody.Part: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name and the length. The content is not included, because it may be secret regardless of the name.
    public var description: String {
        let length = body.contentLength.map { "\($0) bytes" } ?? "length unknown"
        return "part \(fields.shownName.map { "\"\($0)\", " } ?? "")\(length)"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(describing: self) }
}
