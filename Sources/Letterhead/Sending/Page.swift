/// One page of a walk.
public struct Page<Value: Sendable>: Sendable {
    /// What the page holds.
    public let value: Value
    /// The response that it came with.
    public let response: HTTPResponse
    /// Its number.
    public let number: Int
    /// Where the walk goes on behind it; nil when it is the last. When the way to the next page is faulty, it leads nowhere:
    /// a walk from there is `.invalidRequest`.
    public let checkpoint: PageCheckpoint?
}
