import Foundation
import Synchronization

/// Counts the bytes of one direction of one transfer, and tells whoever wants to hear. A class, since the count is shared
/// by the walks over one body.
final class ProgressMeter: Sendable {
    private let direction: TransferProgress.Direction
    private let total: Int?
    private let report: @Sendable (TransferProgress) -> Void
    private let completed = Mutex(0)

    init(
        _ direction: TransferProgress.Direction, total: Int?, report: @escaping @Sendable (TransferProgress) -> Void
    ) {
        self.direction = direction
        self.total = total
        self.report = report
    }

    /// So many bytes have gone since the first; no more than the time before are those of a second walk, and not told.
    func note(_ count: Int) {
        let isNews = completed.withLock { completed in
            defer { completed = max(completed, count) }
            return count > completed
        }
        if isNews { report(TransferProgress(direction: direction, completedBytes: count, totalBytes: total)) }
    }

    /// So many more bytes have gone.
    func add(_ count: Int) {
        guard count > 0 else { return }
        let sum = completed.withLock { completed in
            completed += count
            return completed
        }
        report(TransferProgress(direction: direction, completedBytes: sum, totalBytes: total))
    }
}
