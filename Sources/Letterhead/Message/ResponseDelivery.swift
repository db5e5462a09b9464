public import Foundation

/// How the body of a response is handed over.
public enum ResponseDelivery: Sendable, Hashable {
    /// In memory, when all of it is there; never more than ``HTTPRequest/responseLimit`` allows.
    case buffered
    /// In pieces, as the reader asks for them, behind the head. It can be walked once.
    case streamed
    /// To a file, which appears when it is whole, over one that is there already; the body of the response is empty. Only
    /// a status that counts as success is saved, any other is handed over in memory.
    case file(URL)
}

/// How the body of a response is handed over.
public enum ResponseDeliveryOption: HTTPRequestOption {
    /// In memory.
    public static let defaultOptionValue = ResponseDelivery.buffered
}

/// How many bytes a buffered response may have.
public enum ResponseLimitOption: HTTPRequestOption {
    /// 64 MiB.
    public static let defaultOptionValue = 64 << 20
}

extension HTTPRequest {
    /// How the body of the response is handed over. Default: in memory.
    public var responseDelivery: ResponseDelivery {
        get { self[option: ResponseDeliveryOption.self] }
        set { self[option: ResponseDeliveryOption.self] = newValue }
    }

    /// How many bytes the body of a buffered response may have, counted when its content coding is undone.
    ///
    /// The body of a redirect that is followed does not count. Default: 64 MiB. One more is `.responseTooLarge`, and the connection is closed; less than zero is
    /// `.invalidRequest`.
    public var responseLimit: Int {
        get { self[option: ResponseLimitOption.self] }
        set { self[option: ResponseLimitOption.self] = newValue }
    }
}
