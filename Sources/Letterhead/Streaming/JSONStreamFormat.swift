/// The format of a response with several JSON values.
public enum JSONStreamFormat: Sendable, Hashable {
    /// The format that the content type determines: `application/json-seq` is a text sequence, `application/json` (or a
    /// type that ends in `+json`) whose first character is `[` is an array, and everything else has one value per line.
    case automatic
    /// One value per line, as in NDJSON and JSON Lines. Blank lines are ignored.
    case lines
    /// Values between record separators, `application/json-seq` (RFC 7464).
    case textSequence
    /// The elements of one array, which are delivered before the array has ended.
    case array
}
