#if os(Linux)
    import CLibcurl
    import Foundation

    /// C strings, a list of lines and a tail of bytes, in two blocks of memory that are freed with it.
    ///
    /// A class, since it owns the memory that libcurl reads. `@unchecked`: nothing is written once it is made.
    final class CurlText: @unchecked Sendable {
        private let bytes: UnsafeMutableBufferPointer<UInt8>
        private let nodes: UnsafeMutableBufferPointer<curl_slist>
        private let strings: [Int]
        private let tailOffset: Int

        fileprivate init(_ writer: Writer) {
            bytes = .allocate(capacity: writer.bytes.count)
            _ = bytes.initialize(from: writer.bytes)
            strings = writer.strings
            tailOffset = writer.tailOffset
            nodes = .allocate(capacity: writer.lines.count)
            for (index, offset) in writer.lines.enumerated() {
                let next = index + 1 < nodes.count ? nodes.baseAddress.map { $0 + index + 1 } : nil
                nodes.initializeElement(at: index, to: curl_slist(data: Self.pointer(bytes, offset), next: next))
            }
        }

        deinit {
            bytes.deallocate()
            nodes.deallocate()
        }

        /// The strings in the order in which they were added; nil past the last.
        func string(_ index: Int) -> UnsafePointer<CChar>? {
            strings.indices.contains(index) ? UnsafePointer(Self.pointer(bytes, strings[index])) : nil
        }

        var lines: UnsafePointer<curl_slist>? {
            nodes.isEmpty ? nil : nodes.baseAddress.map { UnsafePointer($0) }
        }

        var tail: UnsafeRawPointer? { bytes.baseAddress.map { UnsafeRawPointer($0 + tailOffset) } }

        private static func pointer(
            _ bytes: UnsafeMutableBufferPointer<UInt8>, _ offset: Int
        ) -> UnsafeMutablePointer<CChar>? {
            bytes.baseAddress.map { UnsafeMutableRawPointer($0 + offset).assumingMemoryBound(to: CChar.self) }
        }
    }

    extension CurlText {
        /// Gathers the bytes, each string and line with the zero at its end.
        struct Writer {
            fileprivate var bytes: [UInt8] = []
            fileprivate var strings: [Int] = []
            fileprivate var lines: [Int] = []
            fileprivate var tailOffset = 0

            init() {
                bytes.reserveCapacity(512)
                strings.reserveCapacity(4)
                lines.reserveCapacity(16)
            }

            mutating func add(_ string: String) {
                strings.append(bytes.count)
                append(string)
                bytes.append(0)
            }

            /// A header line; an empty value is sent as such, and none takes back what libcurl would send.
            mutating func addLine(_ name: String, _ value: String?) {
                lines.append(bytes.count)
                append(name)
                if let value {
                    append(value.isEmpty ? ";" : ": ")
                    append(value)
                } else {
                    append(":")
                }
                bytes.append(0)
            }

            /// The tail, once all strings and lines are there.
            mutating func finish(tail: Data = Data()) -> CurlText {
                tailOffset = bytes.count
                bytes.append(contentsOf: tail)
                return CurlText(self)
            }

            private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
        }
    }
#endif
