public import Foundation

/// How the body of a response is delivered.
public enum ResponseDelivery: Sendable, Hashable {
    /// The whole body in memory, limited by ``RequestSettings/responseLimit``.
    case buffered
    /// In pieces, as the reader requests them. The response is returned as soon as its head is complete. The body can
    /// be iterated once.
    case streamed
    /// To a file. The body of the response is empty; see ``HTTPResponse/savedFile``.
    ///
    /// The file is written after the body is complete and the response has been accepted. An existing file is not
    /// changed if a validator refuses the response, if a template refuses it in `finish`, or if its status is not
    /// accepted. The body of a response with a status that is not accepted is in memory.
    case file(URL)

    /// The limit of a body if the request does not set one; see ``RequestSettings/responseLimit``.
    var standardLimit: Int {
        switch self {
        case .buffered: 64 << 20
        case .file: 16 << 30
        case .streamed: .max
        }
    }
}

enum ResponseDeliveryOption: HTTPRequestOption {
    /// In memory.
    static let defaultOptionValue = ResponseDelivery.buffered
}

enum ResponseLimitOption: HTTPRequestOption {
    /// The limit of the delivery.
    static let defaultOptionValue: Int? = nil
}

extension RequestSettings {
    /// How the body of the response is delivered. Default: in memory.
    public var responseDelivery: ResponseDelivery {
        get { self[option: ResponseDeliveryOption.self] }
        set { self[option: ResponseDeliveryOption.self] = newValue }
    }

    /// The largest number of bytes that the body of the response may have, counted after decompression.
    ///
    /// Default: 64 MiB for a buffered response, 16 GiB for a download, and no limit for a streamed response, whose
    /// reader decides when to stop. If a download is not saved because of its status, its body is held in memory and
    /// may have at most 64 MiB, or this limit if it is lower. A larger body is `.responseTooLarge`, and its connection
    /// is closed. If the response declares a length, the length is checked before the body is read. The bodies of
    /// redirects that are followed do not count. A negative limit is `.invalidRequest`.
    public var responseLimit: Int {
        get { self[option: ResponseLimitOption.self] ?? responseDelivery.standardLimit }
        set { self[option: ResponseLimitOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// Whether a download whose response has this status is saved: the status is accepted and is not 304. A 304 means
    /// that the representation that the client already has is current (RFC 9110, 15.4.5).
    func saves(_ status: HTTPStatus) -> Bool { status != .notModified && accepts(status) }

    /// Whether the request sets a limit.
    package var hasResponseLimit: Bool { options.contains(ResponseLimitOption.self) }

    /// The largest number of bytes of a response that may be held in memory: of a buffered response, of a response that
    /// is not saved because of its status, and of a stream whose reader is slow. Only the limit of a buffered response
    /// raises it above 64 MiB.
    var bufferLimit: Int {
        responseDelivery == .buffered ? responseLimit : min(responseLimit, ResponseDelivery.buffered.standardLimit)
    }
}
