extension String {
    /// What is made of the bytes of the text, where they lie; unlike `withUTF8`, no variable is needed, and so no copy.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? withCopiedBytes(body)
    }

    /// A text that Objective-C made may lie in another encoding.
    @inline(never)
    private func withCopiedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var copy = self
        return copy.withUTF8(body)
    }
}
