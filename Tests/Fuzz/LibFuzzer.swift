// SPDX-License-Identifier: MIT
// libFuzzer has the main function of a program that `.clusterfuzzlite/build.sh` builds. It calls these functions by
// name.
#if DEBUG && LIBFUZZER
    import Foundation

    /// Chooses the reader by the program's name, because libFuzzer and ClusterFuzzLite start a program for each reader.
    ///
    /// `--seeds FOLDER` writes each reader's samples and dictionary instead, in the forms that libFuzzer reads.
    enum LibFuzzer {
        static let reader: Reader = {
            let name = URL(filePath: CommandLine.arguments[0]).lastPathComponent
            if let reader = Reader.all.first(where: { fileName($0) == name }) { return reader }
            fatalError("the program's name is not one of \(Reader.all.map(fileName).joined(separator: ", "))")
        }()

        /// Letters, digits and hyphens only, because ClusterFuzzLite takes a period for a file extension.
        private static func fileName(_ reader: Reader) -> String {
            String(reader.name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
        }

        fileprivate static func writeSeeds(to folder: URL) throws {
            for reader in Reader.all {
                let samples = folder.appending(path: fileName(reader))
                try FileManager.default.createDirectory(at: samples, withIntermediateDirectories: true)
                for (number, sample) in reader.samples.enumerated() {
                    try Data(sample.utf8).write(to: samples.appending(path: "\(number)"))
                }
                let pieces = reader.hostile + reader.nested.flatMap { [$0.open, $0.close] }
                if pieces.isEmpty { continue }  // libFuzzer refuses an empty dictionary.
                try Data(pieces.map(line).joined().utf8).write(to: samples.appendingPathExtension("dict"))
            }
        }

        /// An entry of a dictionary. Each byte is escaped, which is valid for all of them.
        private static func line(_ piece: String) -> String {
            "\"" + piece.utf8.map { String(format: "\\x%02x", $0) }.joined() + "\"\n"
        }
    }

    @_cdecl("LLVMFuzzerInitialize")
    func initialize(_: UnsafeMutablePointer<CInt>, _: UnsafeMutableRawPointer) -> CInt {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == "--seeds" else { return 0 }
        do { try LibFuzzer.writeSeeds(to: URL(filePath: arguments[2])) } catch { fatalError("\(error)") }
        exit(0)
    }

    /// What Swift's runtime keeps for the life of the process: the names of types that were printed.
    @_cdecl("__lsan_default_suppressions")
    func suppressedLeaks() -> UnsafeRawPointer {
        let suppressions: StaticString = "leak:swift_getTypeName\n"
        return UnsafeRawPointer(suppressions.utf8Start)
    }

    @_cdecl("LLVMFuzzerTestOneInput")
    func readOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        LibFuzzer.reader.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
#endif
