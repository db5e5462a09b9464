#if os(Linux)
    import CLibcurl
    import Foundation

    /// C strings, a list of lines and the bytes of a body, in one block of memory.
    ///
    /// A class, since it owns the memory that libcurl reads. `@unchecked`: nothing is written after `init`.
    final class CurlText: @unchecked Sendable {
        private let block: UnsafeMutableRawPointer
        private let strings: UnsafeMutableRawPointer
        private let lineCount: Int
        private let bodyOffset: Int

        /// Strings and lines while they are written, each with the zero at its end.
        struct Writer {
            fileprivate var bytes: [UInt8] = []
            fileprivate var lines: [Int] = []

            /// Where the next string begins.
            var position: Int { bytes.count }

            mutating func add(_ string: String) {
                append(string)
                bytes.append(0)
            }

            /// Adds a string of at most so many bytes.
            mutating func add(atMost count: Int, _ write: (inout ByteText) -> Void) {
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 1) { memory in
                    let written = ByteText.write(to: memory, write)
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: memory[..<written]))
                }
                bytes.append(0)
            }

            /// Adds a header line. An empty value is sent as such; nil removes what libcurl would send.
            mutating func addLine(_ name: String, _ value: String?) {
                lines.append(bytes.count)
                append(name)
                append(value.map { $0.isEmpty ? ";" : ": " } ?? ":")
                add(value ?? "")
            }

            private mutating func append(_ text: String) { text.withBytes { bytes.append(contentsOf: $0) } }
        }

        init(body: Data, write: (inout Writer) -> Void) {
            var writer = Writer()
            writer.bytes.reserveCapacity(512)
            writer.lines.reserveCapacity(16)
            write(&writer)
            (lineCount, bodyOffset) = (writer.lines.count, writer.bytes.count)
            let listSize = lineCount * MemoryLayout<curl_slist>.stride
            block = .allocate(
                byteCount: listSize + bodyOffset + body.count, alignment: MemoryLayout<curl_slist>.alignment)
            strings = block + listSize
            writer.bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: strings, count: $0.count).copyMemory(from: $0)
            }
            body.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: strings + bodyOffset, count: $0.count).copyMemory(from: $0)
            }
            let nodes = block.bindMemory(to: curl_slist.self, capacity: lineCount)
            for (index, position) in writer.lines.enumerated() {
                let next = index + 1 < lineCount ? nodes + index + 1 : nil
                (nodes + index).initialize(
                    to: curl_slist(data: (strings + position).assumingMemoryBound(to: CChar.self), next: next))
            }
        }

        deinit { block.deallocate() }

        /// The string at a position of the writer.
        func string(at position: Int) -> UnsafePointer<CChar> {
            UnsafePointer((strings + position).assumingMemoryBound(to: CChar.self))
        }

        var lines: UnsafePointer<curl_slist>? {
            lineCount == 0 ? nil : UnsafePointer(block.assumingMemoryBound(to: curl_slist.self))
        }

        var body: UnsafeRawPointer { UnsafeRawPointer(strings + bodyOffset) }
    }
#endif
