public import Foundation

/// How the body of a response is handed over.
public enum ResponseDelivery: Sendable, Hashable {
    /// In memory, when all of it is there; never more than ``HTTPRequest/responseLimit`` allows.
    case buffered
    /// In pieces, as the reader asks for them, after the head. It can be iterated once.
    case streamed
    /// To a file. The body of the response is empty; see ``HTTPResponse/savedFile``.
    ///
    /// The file appears when it is whole and the response has been judged: a response that a validator refuses, that a
    /// template refuses in `finish`, or whose status is not accepted, leaves a file that is there alone. The body of a
    /// response with another status is in memory.
    case file(URL)

    /// The limit of a body when a request sets none; see ``HTTPRequest/responseLimit``.
    var standardLimit: Int {
        switch self {
        case .buffered: 64 << 20
        case .file: 16 << 30
        case .streamed: .max
        }
    }
}

/// How the body of a response is handed over.
enum ResponseDeliveryOption: HTTPRequestOption {
    /// In memory.
    static let defaultOptionValue = ResponseDelivery.buffered
}

/// How many bytes the body of a response may have.
enum ResponseLimitOption: HTTPRequestOption {
    /// 64 MiB, the limit of a buffered response.
    static let defaultOptionValue = 64 << 20
}

extension HTTPRequest {
    /// How the body of the response is handed over. Default: in memory.
    public var responseDelivery: ResponseDelivery {
        get { self[option: ResponseDeliveryOption.self] }
        set { self[option: ResponseDeliveryOption.self] = newValue }
    }

    /// How many bytes the body of the response may have, counted after its content codings are undone.
    ///
    /// Default: 64 MiB for a buffered response, 16 GiB for a download, and no limit for a streamed response, whose reader
    /// decides when to stop. The body of a download that is not saved because of its status is held in memory, and has at
    /// most 64 MiB, or this limit if it is lower. One byte more is `.responseTooLarge`, and the connection is closed. A length that the response
    /// declares is judged before its body is read. The body of a redirect that is followed
    /// does not count. Less than zero is `.invalidRequest`.
    public var responseLimit: Int {
        get {
            options.contains(ResponseLimitOption.self)
                ? self[option: ResponseLimitOption.self] : responseDelivery.standardLimit
        }
        set { self[option: ResponseLimitOption.self] = newValue }
    }

    /// Whether the request sets a limit.
    package var hasResponseLimit: Bool { options.contains(ResponseLimitOption.self) }

    /// How many bytes of a response may be held in memory: those of a buffered response, of a response that is not saved
    /// because of its status, and of a stream whose reader is slow. Only the limit of a buffered response raises it above
    /// 64 MiB.
    var bufferLimit: Int {
        responseDelivery == .buffered ? responseLimit : min(responseLimit, ResponseLimitOption.defaultOptionValue)
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/responseLimit``.
    public var responseLimit: Int {
        get { contains(ResponseLimitOption.self) ? self[ResponseLimitOption.self] : responseDelivery.standardLimit }
        set { self[ResponseLimitOption.self] = newValue }
    }

    /// See ``HTTPRequest/responseDelivery``.
    public var responseDelivery: ResponseDelivery {
        get { self[ResponseDeliveryOption.self] }
        set { self[ResponseDeliveryOption.self] = newValue }
    }
}
