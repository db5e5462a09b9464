#if os(Linux)
    import CLibcurl
    import Foundation

    /// C strings, a list of lines and a tail of bytes, in one block of memory that is freed with it.
    ///
    /// A class, since it owns the memory that libcurl reads. `@unchecked`: nothing is written once it is made.
    final class CurlText: @unchecked Sendable {
        private let block: UnsafeMutableRawPointer
        private let lineCount: Int
        private let tailOffset: Int

        /// Where the strings begin, behind the nodes of the list.
        let start: Int

        /// - Parameters:
        ///   - lineCount: how many lines there will be at most.
        ///   - capacity: how many bytes there will be at most, the zero behind each string and line counted.
        ///   - tail: stands behind them.
        ///   - write: writes them.
        init(lineCount: Int, capacity: Int, tail: Data, write: (inout Writer) -> Void) {
            start = lineCount * MemoryLayout<curl_slist>.stride
            block = .allocate(byteCount: start + capacity + tail.count, alignment: MemoryLayout<curl_slist>.alignment)
            var writer = Writer(block: block, start: start, end: start + capacity, lineLimit: lineCount)
            write(&writer)
            writer.endList()
            self.lineCount = writer.lineCount
            tailOffset = writer.position
            let rest = UnsafeMutableRawBufferPointer(start: block + tailOffset, count: tail.count)
            tail.withUnsafeBytes { rest.copyMemory(from: $0) }
        }

        deinit { block.deallocate() }

        /// The string at a position of its writer.
        func string(at position: Int) -> UnsafePointer<CChar> {
            UnsafePointer((block + position).assumingMemoryBound(to: CChar.self))
        }

        var lines: UnsafePointer<curl_slist>? {
            lineCount == 0 ? nil : UnsafePointer(block.assumingMemoryBound(to: curl_slist.self))
        }

        var tail: UnsafeRawPointer { UnsafeRawPointer(block + tailOffset) }
    }

    extension CurlText {
        /// Writes strings and lines, each with the zero at its end.
        struct Writer {
            fileprivate let block: UnsafeMutableRawPointer
            /// Where the next byte goes.
            private(set) var position: Int
            private let end: Int
            private let lineLimit: Int
            fileprivate private(set) var lineCount = 0

            fileprivate init(block: UnsafeMutableRawPointer, start: Int, end: Int, lineLimit: Int) {
                (self.block, position, self.end, self.lineLimit) = (block, start, end, lineLimit)
            }

            mutating func add(_ string: String) {
                append(string)
                append(0)
            }

            /// A string of at most so many bytes, with room for one more.
            mutating func add(atMost count: Int, _ write: (inout ByteText) -> Void) {
                precondition(count < end - position, "more bytes than were announced")
                let room = UnsafeMutableRawBufferPointer(start: block + position, count: count + 1)
                position += ByteText.write(to: room.bindMemory(to: UInt8.self), write)
                append(0)
            }

            /// A header line; an empty value is sent as such, and none takes back what libcurl would send.
            mutating func addLine(_ name: String, _ value: String?) {
                precondition(lineCount < lineLimit, "more lines than were announced")
                link(to: block + position)
                append(name)
                if let value {
                    append(value.isEmpty ? ";" : ": ")
                    append(value)
                } else {
                    append(":")
                }
                append(0)
            }

            fileprivate func endList() {
                if lineCount > 0 { nodes[lineCount - 1].next = nil }
            }

            private var nodes: UnsafeMutablePointer<curl_slist> {
                block.assumingMemoryBound(to: curl_slist.self)
            }

            private mutating func link(to line: UnsafeMutableRawPointer) {
                let node = curl_slist(data: line.assumingMemoryBound(to: CChar.self), next: nodes + lineCount + 1)
                (nodes + lineCount).initialize(to: node)
                lineCount += 1
            }

            private mutating func append(_ byte: UInt8) {
                precondition(position < end, "more bytes than were announced")
                block.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
                position += 1
            }

            private mutating func append(_ text: String) {
                text.withBytes { bytes in
                    precondition(bytes.count <= end - position, "more bytes than were announced")
                    UnsafeMutableRawBufferPointer(start: block + position, count: bytes.count).copyMemory(
                        from: UnsafeRawBufferPointer(bytes))
                    position += bytes.count
                }
            }
        }
    }
#endif
