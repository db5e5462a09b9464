// SPDX-License-Identifier: MIT
#if os(Linux)
    package import Foundation
    import Glibc
    import Synchronization

    /// Numbered messages over two pipes, as between the ends of a relay in two processes. Each of them is a number, a
    /// length and bytes. A length of -1 ends the messages with the number.
    package final class MessagePipe: Sendable {
        private let input: CInt
        private let output: Mutex<CInt>

        package init(input: CInt, output: CInt) {
            self.input = input
            self.output = Mutex(output)
        }

        /// Writes a message, or nil to end the messages with the number.
        package func write(_ number: Int, _ data: Data?) {
            var frame = Data()
            for value in [number, data?.count ?? -1] {
                withUnsafeBytes(of: value) { frame.append(contentsOf: $0) }
            }
            if let data { frame.append(data) }
            // One message at a time, so that messages do not mix.
            output.withLock { output in
                frame.withUnsafeBytes { bytes in
                    var rest = UnsafeRawBufferPointer(bytes)
                    while !rest.isEmpty {
                        let count = Glibc.write(output, rest.baseAddress, rest.count)
                        guard count > 0 else { return }
                        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                    }
                }
            }
        }

        /// Calls a closure with each message on a thread, and another closure at the end of the input.
        package func read(
            _ message: @escaping @Sendable (Int, Data?) -> Void, atEnd end: @escaping @Sendable () -> Void
        ) {
            Thread.detachNewThread { [input] in
                while let number = Self.number(input), let count = Self.number(input) {
                    guard count >= 0 else {
                        message(number, nil)
                        continue
                    }
                    guard let data = Self.bytes(count, input) else { break }
                    message(number, data)
                }
                end()
            }
        }

        private static func number(_ input: CInt) -> Int? {
            bytes(MemoryLayout<Int>.size, input)?.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        }

        private static func bytes(_ count: Int, _ input: CInt) -> Data? {
            var data = Data(count: count)
            var filled = 0
            while filled < count {
                let read = data.withUnsafeMutableBytes {
                    Glibc.read(input, $0.baseAddress.map { $0 + filled }, count - filled)
                }
                guard read > 0 else { return nil }
                filled += read
            }
            return data
        }
    }
#endif
