package import Foundation

extension Data {
    /// Returns data of an exact size, written once: nothing is zeroed, grown or copied.
    ///
    /// - Parameters:
    ///   - count: how many bytes there is room for.
    ///   - failure: what is thrown when there is no memory for them.
    ///   - fill: writes the bytes, and returns how many it wrote; the rest is left out.
    package static func filled<Failure: Error>(
        count: Int, orThrow failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let memory = malloc(count) else { throw failure() }
        let written: Int
        do {
            written = try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
        } catch {
            free(memory)
            throw error
        }
        return Data(bytesNoCopy: memory, count: written, deallocator: .free)
    }
}
