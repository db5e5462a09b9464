/// The progress of one direction of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The direction of a transfer.
    public enum Direction: Sendable, Hashable {
        /// The body of the request.
        case upload
        /// The body of the response.
        case download
    }

    /// The direction of the transfer.
    public let direction: Direction
    /// The number of bytes transferred so far. It never decreases until a retry or a redirect starts a new transfer.
    public let completedBytes: Int
    /// The total number of bytes; nil if it is not known, for example for a compressed body.
    public let totalBytes: Int?

    /// Creates a progress value.
    public init(direction: Direction, completedBytes: Int, totalBytes: Int?) {
        self.direction = direction
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// The completed fraction from 0 to 1; nil if the total number of bytes is not known.
    public var fractionCompleted: Double? {
        totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
    }
}

enum TransferProgressOption: HTTPRequestOption {
    static let defaultOptionValue: (@Sendable (TransferProgress) -> Void)? = nil
}

extension RequestSettings {
    /// A closure that is called while the bodies of the request and of its response are transferred, in order for each
    /// direction. The last call for a body of known length with at least one byte has a
    /// ``TransferProgress/fractionCompleted`` of 1. Default: nil.
    ///
    /// The closure is called on the thread that reads the bytes, and delays them while it runs. A retry starts from
    /// zero.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[option: TransferProgressOption.self] }
        set { self[option: TransferProgressOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The closure to which a transport reports: it calls the closure that was set, and also reports to the
    /// ``ProgressUpdates`` that were passed to ``RequestSettings/reportProgress(to:)``. Default: nil.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get {
            let closure = self[option: TransferProgressOption.self]
            guard reportsProgress else { return closure }
            return { [self] progress in
                closure?(progress)
                report(progress)
            }
        }
        set { self[option: TransferProgressOption.self] = newValue }
    }
}
