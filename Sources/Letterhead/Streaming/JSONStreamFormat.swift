/// The format of a response with several JSON values.
public enum JSONStreamFormat: Sendable, Hashable {
    /// The format that the content type determines. A body of type `application/json-seq` is a text sequence. A body of
    /// type `application/json` or `text/json`, or of a type that ends in `+json`, is an array if it begins with `[`.
    /// Any other body has one value per line.
    case automatic
    /// One value per line, as in NDJSON and JSON Lines. Blank lines are ignored.
    case lines
    /// Values that each follow a record separator: `application/json-seq` (RFC 7464).
    case textSequence
    /// The elements of one array, which are delivered before the array has ended.
    case array
}
