// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation

    /// The compressors of the system's libraries, which a machine may lack, and the codings that the library offers
    /// with them.
    enum SystemCodings {
        private typealias BrotliCompress =
            @convention(c) (
                CInt, CInt, CInt, Int, UnsafePointer<UInt8>?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UInt8>
            ) -> CInt
        private typealias ZstdCompress =
            @convention(c) (UnsafeMutableRawPointer, Int, UnsafeRawPointer?, Int, CInt) -> Int

        static let offered: String = {
            let libraries = [("br", "libbrotlidec.so.1"), ("zstd", "libzstd.so.1")]
            let names = libraries.filter { dlopen($0.1, RTLD_LAZY) != nil }.map(\.0)
            return (["gzip", "deflate"] + names).joined(separator: ", ")
        }()
        /// The codings that can be decompressed here and that have a compressor.
        static let compressible = ["br", "zstd"].filter { offered.contains($0) && compressed(Data([1]), $0) != nil }

        /// Nil if the machine has no compressor for the coding.
        static func compressed(_ data: Data, _ coding: String) -> Data? { coding == "br" ? brotli(data) : zstd(data) }

        private static func brotli(_ data: Data) -> Data? {
            guard let compress = function("libbrotlienc.so.1", "BrotliEncoderCompress", BrotliCompress.self) else {
                return nil
            }
            var count = data.count + data.count / 2 + 1024
            var output = [UInt8](repeating: 0, count: count)
            let result = data.withUnsafeBytes {
                compress(5, 22, 0, data.count, $0.bindMemory(to: UInt8.self).baseAddress, &count, &output)
            }
            return result == 1 ? Data(output[..<count]) : nil
        }

        private static func zstd(_ data: Data) -> Data? {
            guard let compress = function("libzstd.so.1", "ZSTD_compress", ZstdCompress.self) else { return nil }
            var output = [UInt8](repeating: 0, count: data.count + data.count / 2 + 1024)
            let capacity = output.count
            let count = data.withUnsafeBytes { compress(&output, capacity, $0.baseAddress, data.count, 3) }
            return (0...capacity).contains(count) ? Data(output[..<count]) : nil
        }

        private static func function<Function>(_ library: String, _ name: String, _ type: Function.Type) -> Function? {
            guard let handle = dlopen(library, RTLD_LAZY), let symbol = dlsym(handle, name) else { return nil }
            return unsafeBitCast(symbol, to: type)
        }
    }
#endif
