// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A body in chunks, each with a signature that depends on the previous one (`aws-chunked`). Its length is exact, and
/// each reader receives the same bytes.
struct AWSChunkedBody: HTTPBody {
    let body: any HTTPBody
    /// The number of body bytes, without the bytes that the chunks add.
    let length: Int
    let checksum: AWSSigner.Checksum?
    /// Nil if the chunks have no signatures.
    let seal: AWSSeal?
    /// The request signature, which the first chunk signature depends on.
    var seed = Secret("")

    /// The value of the header that otherwise contains the body hash. It names the form of the chunks.
    var payload: String {
        let form = seal == nil ? "UNSIGNED" : AWSSeal.algorithm
        return "STREAMING-\(form)-PAYLOAD" + (checksum == nil ? "" : "-TRAILER")
    }

    var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        headers[.contentEncoding] = codings(after: headers[.contentEncoding])
        headers["X-Amz-Decoded-Content-Length"] = "\(length)"
        headers["X-Amz-Trailer"] = checksum?.name
        return headers
    }

    /// Returns the content codings with `aws-chunked` as the last one, or nil if there are no others. If `aws-chunked`
    /// is the only coding, the header isn't sent: stores would keep it with the object, and `X-Amz-Content-SHA256`
    /// describes the form anyway.
    func codings(after others: String?) -> String? {
        others.map { $0.ends(with: "aws-chunked") ? $0 : $0 + ",aws-chunked" }
    }

    var isReplayable: Bool { body.isReplayable }

    var contentLength: Int? {
        let signature = seal == nil ? nil : String(repeating: "0", count: 64)
        func framed(_ count: Int) -> Int { Self.head(count, signature).utf8.count + count + 2 }
        let (whole, rest) = length.quotientAndRemainder(dividingBy: Self.size)
        return whole * framed(Self.size) + (rest > 0 ? framed(rest) : 0) + framed(0) + trailer(0, signature).utf8.count
    }

    func chunks() throws -> BodyChunks {
        let chunks = AWSChunks(of: self, try body.chunks().held(to: length))
        return BodyChunks(length: contentLength) { try await chunks.next() }
    }

    /// The number of bytes in a chunk. The last chunk may have fewer.
    fileprivate static let size = 65_536

    fileprivate static func head(_ count: Int, _ signature: String?) -> String {
        String(count, radix: 16) + (signature.map { ";chunk-signature=" + $0 } ?? "") + "\r\n"
    }

    fileprivate func trailer(_ sum: UInt32, _ signature: String?) -> String {
        guard let checksum else { return "" }
        return checksum.line(sum) + "\r\n" + (signature.map { "x-amz-trailer-signature:\($0)\r\n" } ?? "")
    }
}

/// The chunks for one reader. It is an actor because it computes the checksum and the signatures while it is read.
private actor AWSChunks {
    private let body: AWSChunkedBody
    private let source: StreamWalk<BodyChunks>
    /// The unread rest of the last piece, which may be longer than a chunk.
    private var rest = Data()
    private var sum: UInt32 = 0
    private var signature: String?
    private var isAtEnd = false

    init(of body: AWSChunkedBody, _ bytes: BodyChunks) {
        (self.body, source) = (body, StreamWalk { bytes })
        signature = body.seal.map { _ in body.seed.reveal() }
    }

    func next() async throws -> Data? {
        guard !isAtEnd else { return nil }
        var chunk = Data()
        while chunk.count < AWSChunkedBody.size {
            if rest.isEmpty {
                guard let piece = try await source.next() else { break }
                rest = piece
            }
            let part = rest.prefix(AWSChunkedBody.size - chunk.count)
            chunk += part
            rest = rest.dropFirst(part.count)
        }
        isAtEnd = chunk.isEmpty
        sum = body.checksum?.updated(sum, with: chunk) ?? 0
        sign("-PAYLOAD", [AWSSeal.hash(""), AWSSeal.hash(chunk)])
        var frame = Data(AWSChunkedBody.head(chunk.count, signature).utf8) + chunk
        if isAtEnd, let checksum = body.checksum {
            sign("-TRAILER", [AWSSeal.hash(checksum.line(sum) + "\n")])
            frame += Data(body.trailer(sum, signature).utf8)
        }
        return frame + Data("\r\n".utf8)
    }

    /// Computes the next signature. The hashes are computed only if the chunks have signatures.
    private func sign(_ kind: String, _ hashes: @autoclosure () -> [String]) {
        signature = signature.flatMap { body.seal?.signature(kind, [$0] + hashes()) }
    }
}

extension AWSSigner {
    /// A checksum that S3 compares with the bytes that arrive, and stores with the object.
    public struct Checksum: Sendable {
        let name: String
        private let table: [UInt32]

        /// CRC-32, as gzip and zlib compute it.
        public static let crc32 = Checksum("crc32", polynomial: 0xEDB8_8320)
        /// CRC-32C (Castagnoli).
        public static let crc32c = Checksum("crc32c", polynomial: 0x82F6_3B78)

        private init(_ name: String, polynomial: UInt32) {
            self.name = "x-amz-checksum-" + name
            table = (0..<256).map { byte in
                (0..<8).reduce(byte) { rest, _ in rest & 1 == 0 ? rest >> 1 : rest >> 1 ^ polynomial }
            }
        }

        func updated(_ sum: UInt32, with bytes: Data) -> UInt32 {
            ~bytes.reduce(~sum) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
        }

        func line(_ sum: UInt32) -> String {
            let bytes = Data((0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) })
            return "\(name):\(bytes.base64EncodedString())"
        }
    }
}
