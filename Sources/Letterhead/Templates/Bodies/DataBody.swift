public import Foundation

/// A body that consists of the given bytes.
///
/// ```swift
/// DataBody(png, contentType: "image/png")
/// ```
public struct DataBody: HTTPBody {
    /// The bytes.
    public let data: Data
    /// The headers of the body.
    public var additionalHeaders: HTTPHeaders

    /// Creates a body from bytes.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - contentType: the media type. Default: nil (no Content-Type).
    ///   - additionalHeaders: further headers. A Content-Type among them takes precedence. Default: empty.
    public init(_ data: Data, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]) {
        self.data = data
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Whether the body has no bytes.
    public var isEmpty: Bool { data.isEmpty }

    /// The number of bytes.
    public var contentLength: Int? { data.count }

    /// Returns the bytes.
    public func encode() -> Data { data }
}

extension HTTPHeaders {
    /// Returns these headers with a Content-Type at the beginning, unless they already have one.
    func describing(_ type: MediaType?) -> HTTPHeaders {
        guard let type else { return self }
        var headers: HTTPHeaders = [.contentType: type.description]
        if !isEmpty { headers.replace(with: self) }
        return headers
    }
}
