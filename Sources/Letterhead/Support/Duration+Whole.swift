extension Duration {
    /// In nanoseconds; nothing below zero, and as much as fits above.
    package var wholeNanoseconds: UInt64 {
        guard self < .seconds(Int64.max) else { return .max }
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (scaled, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOverToo) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return isOver || isOverToo ? .max : sum
    }

    /// In milliseconds, the last one begun counting whole, at most what 32 bits hold.
    package var wholeMilliseconds: Int {
        let nanoseconds = wholeNanoseconds
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return Int(min(milliseconds, UInt64(Int32.max)))
    }
}

extension UInt64 {
    /// The sum, or the largest number when it does not fit.
    func addingUnlessOver(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
