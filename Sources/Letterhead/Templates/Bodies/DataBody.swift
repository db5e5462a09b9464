// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that consists of bytes you already have.
///
/// ```swift
/// DataBody(png, contentType: "image/png")
/// ```
public struct DataBody: HTTPBody, SteadyBody {
    /// The bytes that are sent.
    public let data: Data
    /// The Content-Type of the body, and the additional headers that you passed.
    public var additionalHeaders: HTTPHeaders

    /// Creates a body from bytes. It has no Content-Type unless you pass a `contentType`, or a Content-Type among the
    /// `additionalHeaders`, which takes precedence.
    public init(_ data: Data, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]) {
        self.data = data
        self.additionalHeaders = additionalHeaders.describing(contentType)
    }

    public var isEmpty: Bool { data.isEmpty }

    public var contentLength: Int? { data.count }

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
