/// How a response holds several JSON values.
public enum JSONStreamFormat: Sendable, Hashable {
    /// The content type decides: `application/json-seq` is a text sequence, `application/json` (or a type that ends in
    /// `+json`) whose first character is `[` is an array, and everything else is one value a line.
    case automatic
    /// One value a line, as in NDJSON and JSON Lines. Blank lines are ignored.
    case lines
    /// Values between record separators, `application/json-seq` (RFC 7464).
    case textSequence
    /// The elements of one array, delivered before the array has ended.
    case array
}
