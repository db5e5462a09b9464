public import Foundation

/// No body: no bytes, and no header of a body.
public struct EmptyBody: HTTPBody {
    /// Makes it.
    public init() {}

    /// Always true.
    public var isEmpty: Bool { true }

    /// Always zero.
    public var contentLength: Int? { 0 }

    /// No bytes.
    public func encode() -> Data { Data() }
}
