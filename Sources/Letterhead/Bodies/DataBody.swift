public import Foundation

/// Bytes as they are.
///
/// ```swift
/// DataBody(png, contentType: "image/png")
/// ```
public struct DataBody: HTTPBody {
    /// The bytes.
    public let data: Data
    /// The headers that come with them.
    public var additionalHeaders: HTTPHeaders

    /// Makes a body of bytes.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - contentType: what they are. Default: not said.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    public init(_ data: Data, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]) {
        self.data = data
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { data.isEmpty }

    /// How many bytes there are.
    public var contentLength: Int? { data.count }

    /// The bytes.
    public func encode() -> Data { data }
}

extension HTTPHeaders {
    /// These headers with a Content-Type in front, unless there is one already.
    func describing(_ type: MediaType?) -> HTTPHeaders {
        guard let type else { return self }
        var headers: HTTPHeaders = [.contentType: type.description]
        if !isEmpty { headers.replace(with: self) }
        return headers
    }
}
