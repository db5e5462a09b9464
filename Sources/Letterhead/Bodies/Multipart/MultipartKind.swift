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
