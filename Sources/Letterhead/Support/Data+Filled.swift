package import Foundation

extension Data {
    /// Data of an exact size, written once: nothing is zeroed, grown or copied on the way.
    ///
    /// - Parameters:
    ///   - count: how many bytes there is room for.
    ///   - fill: writes them, and says how many it wrote; the rest is left out.
    package static func filled<Failure: Error>(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0, let memory = malloc(count) else { return Data() }
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
