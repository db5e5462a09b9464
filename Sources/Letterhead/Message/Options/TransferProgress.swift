/// How far one direction of a transfer has come.
public struct TransferProgress: Sendable, Hashable {
    /// Which way the bytes go.
    public enum Direction: Sendable, Hashable {
        /// The body of the request.
        case upload
        /// The body of the response.
        case download
    }

    /// Which way the bytes go.
    public let direction: Direction
    /// How many bytes have gone; never fewer than the time before.
    public let completedBytes: Int
    /// How many there will be; nil when nobody knows, as for a body whose content coding is undone.
    public let totalBytes: Int?

    /// Makes one.
    public init(direction: Direction, completedBytes: Int, totalBytes: Int?) {
        self.direction = direction
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// From 0 to 1, which is the end; nil when nobody knows how many bytes there will be.
    public var fractionCompleted: Double? {
        totalBytes.map { $0 == 0 ? 1 : Double(completedBytes) / Double($0) }
    }
}

/// Who hears how far a request has come.
enum TransferProgressOption: HTTPRequestOption {
    /// Nobody.
    static let defaultOptionValue: (@Sendable (TransferProgress) -> Void)? = nil
}

extension HTTPRequest {
    /// Called while the bodies of the request and of its response move, in order for each direction; a body of at least
    /// one byte and of known length ends with ``TransferProgress/fractionCompleted`` of 1. Default: nil.
    ///
    /// The closure is called where the bytes are read, and holds them up for as long as it takes. A retry begins anew.
    /// After ``reportProgress(to:)``, the closure that is read here reports to the updates, too.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get {
            let closure = self[option: TransferProgressOption.self]
            guard options.contains(ProgressReportOption.self), let report = progressReport else { return closure }
            return { progress in
                closure?(progress)
                report(progress)
            }
        }
        set { self[option: TransferProgressOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/onProgress``.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { self[TransferProgressOption.self] }
        set { self[TransferProgressOption.self] = newValue }
    }
}
