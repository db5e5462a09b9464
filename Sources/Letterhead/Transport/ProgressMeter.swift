// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// Counts and reports the bytes in one direction of a transfer. Several iterations of one body share the count.
final class ProgressMeter: Sendable {
    private let direction: HTTPRequest.Progress.Direction
    private let total: Int?
    private let report: @Sendable (HTTPRequest.Progress) -> Void
    private let completed = Mutex(0)

    /// Creates a meter for a response body. Returns nil if nothing observes the progress, and for a status that isn't
    /// accepted, because its body is not what the caller asked for.
    convenience init?(of status: HTTPStatus, to request: HTTPRequest, total: Int?) {
        guard request.accepts(status), let report = request.onProgress else { return nil }
        self.init(.download, total: total, report: report)
    }

    init(
        _ direction: HTTPRequest.Progress.Direction, total: Int?,
        report: @escaping @Sendable (HTTPRequest.Progress) -> Void
    ) {
        self.direction = direction
        self.total = total
        self.report = report
    }

    /// Notes the total number of transferred bytes. A number that isn't greater than the previous one belongs to a
    /// second iteration, and isn't reported.
    func note(_ count: Int) {
        let isNews = completed.withLock { completed in
            defer { completed = max(completed, count) }
            return count > completed
        }
        if isNews { report(HTTPRequest.Progress(direction: direction, completedBytes: count, totalBytes: total)) }
    }

    func add(_ count: Int) {
        guard count > 0 else { return }
        let sum = completed.withLock { completed in
            completed += count
            return completed
        }
        report(HTTPRequest.Progress(direction: direction, completedBytes: sum, totalBytes: total))
    }
}

extension BodyChunks {
    /// Returns the same bytes. A body in memory is split into pieces of 64 KiB, so that its progress can be reported.
    var inPieces: BodyChunks {
        guard let data, !data.isEmpty else { return self }
        let rest = Mutex(data)
        return BodyChunks(length: data.count) {
            rest.withLock { rest in
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(64 << 10) }
                return rest.prefix(64 << 10)
            }
        }
    }
}
