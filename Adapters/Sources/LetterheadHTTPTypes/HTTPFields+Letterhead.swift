// SPDX-License-Identifier: MIT
public import HTTPTypes
public import Letterhead

extension HTTPFields {
    /// Creates the same fields in the same order. Names keep their spelling, and repeated fields stay separate.
    ///
    /// A field that is marked as secret has the indexing strategy `.disallow`, so that HPACK and QPACK never index it.
    ///
    /// - Returns: nil if a name isn't a token or a value contains a control character (RFC 9110, 5.1 and 5.5). Such
    ///   headers can't be sent.
    public init?(_ headers: HTTPHeaders) {
        self.init()
        reserveCapacity(headers.count)
        for field in headers {
            guard let field = HTTPField(field) else { return nil }
            append(field)
        }
    }
}

extension HTTPHeaders {
    /// Creates the same fields in the same order.
    ///
    /// A field with the indexing strategy `.disallow` counts as secret: it is redacted in descriptions, errors and
    /// logs. If a value isn't UTF-8, it is read as Latin-1.
    public init(_ fields: HTTPFields) {
        self.init(
            fields.map { field in
                Field(Name(field.name.rawName), field.text, isSecret: field.indexingStrategy == .disallow)
            })
    }
}

extension HTTPField {
    /// Returns nil if the name or the value can't be sent.
    init?(_ field: HTTPHeaders.Field) {
        guard let name = Name(field.name.rawValue), Self.isValidValue(field.value) else { return nil }
        self.init(name: name, value: field.value)
        if field.isSecret { indexingStrategy = .disallow }
    }

    /// The value as UTF-8, or else as Latin-1, in which all bytes are valid.
    fileprivate var text: String {
        unsafe withUnsafeBytesOfValue { bytes in
            unsafe String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }
}
