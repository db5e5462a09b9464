// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Uploads in chunks, with the values of the documentation of S3.
@Suite struct AWSChunkedBodyTests {
    private static let example = Data(repeating: UInt8(ascii: "a"), count: 66_560)
    private static let time = "20130524T000000Z"

    private func signer(signsChunks: Bool = true, checksum: AWSSigner.Checksum? = nil) throws -> AWSSigner {
        let now = try Date("2013-05-24T00:00:00Z", strategy: .iso8601)
        let credentials = AWSCredentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        return AWSSigner(
            service: "s3", region: "us-east-1", credentials: .fixed(credentials), signsChunks: signsChunks,
            checksum: checksum, now: { now })
    }

    private var seal: AWSSeal {
        let scope = "20130524/us-east-1/s3/aws4_request"
        let state = AWSState(.environment, now: { Date() })
        let key = state.key(scope, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        return AWSSeal(time: Self.time, scope: scope) { HMAC.sha256($0, key: key) }
    }

    /// A stream in pieces that don't end where chunks do.
    private func stream(_ bytes: Data, length: Int? = nil, piece: Int = 1_000) -> StreamBody {
        StreamBody(length: length ?? bytes.count) {
            AsyncStream<Data> { stream in
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    stream.yield(bytes[start..<min(start + piece, bytes.count)])
                }
                stream.finish()
            }
        }
    }

    private func request(_ body: any HTTPBody, scheme: String = "https") throws -> HTTPRequest {
        var request = try HTTPRequest(method: .put, "\(scheme)://s3.amazonaws.com/examplebucket/chunkObject.txt")
        request.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY"
        request.body = body
        return request
    }

    private func signed(_ request: HTTPRequest, by signer: AWSSigner) async throws -> HTTPRequest {
        var signed = request
        try await signer.sign(&signed, body: SignedBody(request, need: signer.bodyNeed(for: request)))
        return signed
    }

    private func bytes(_ body: any HTTPBody) async throws -> Data {
        let chunks = try body.chunks()
        var bytes = Data()
        for try await chunk in chunks { bytes += chunk }
        #expect(chunks.length == bytes.count)
        return bytes
    }

    /// The example's bytes with its signatures.
    private func framed(_ signatures: [String], _ trailer: String) -> Data {
        let (first, rest) = (Self.example.prefix(65_536), Self.example.suffix(1_024))
        return Data("10000;chunk-signature=\(signatures[0])\r\n".utf8) + first
            + Data("\r\n400;chunk-signature=\(signatures[1])\r\n".utf8) + rest
            + Data("\r\n0;chunk-signature=\(signatures[2])\r\n\(trailer)\r\n".utf8)
    }

    @Test func `the documentation's chunks have its signatures`() async throws {
        let seed = Secret("4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")
        let body = AWSChunkedBody(body: stream(Self.example), length: 66_560, checksum: nil, seal: seal, seed: seed)
        let expected = framed(
            [
                "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
            ], "")
        #expect(try await bytes(body) == expected)
        #expect(body.contentLength == 66_824)
    }

    /// The documentation signs Content-Length, too, which a transport writes.
    @Test func `the documentation's seed is the signature of its request`() throws {
        var request = try request(EmptyBody())
        request.headers["Content-Length"] = "66824"
        request.headers[.contentEncoding] = "aws-chunked"
        request.headers["x-amz-date"] = Self.time
        request.headers["x-amz-decoded-content-length"] = "66560"
        request.headers["x-amz-content-sha256"] = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        let canonical = AWSCanonicalRequest(request, isS3: true, payload: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
        let seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
        #expect(seal.signature(of: canonical) == seed)
    }

    @Test func `an upload with a trailer has the documentation's signatures`() async throws {
        // The example has the coding, which isn't sent otherwise.
        var request = try request(stream(Self.example))
        request.headers[.contentEncoding] = "aws-chunked"
        let sent = try await signed(request, by: signer(checksum: .crc32c))
        let headers = sent.framedHeaders()
        #expect(headers["X-Amz-Content-SHA256"] == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
        #expect(headers["X-Amz-Decoded-Content-Length"] == "66560" && headers[.contentEncoding] == "aws-chunked")
        #expect(headers["X-Amz-Trailer"] == "x-amz-checksum-crc32c")
        let seed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e"
        #expect(headers[.authorization]?.hasSuffix(seed) == true)
        let trailer = """
            x-amz-checksum-crc32c:sOO8/Q==\r
            x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r

            """
        let expected = framed(
            [
                "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
            ], trailer)
        #expect(try await bytes(sent.body) == expected)
    }

    @Test func `without signatures, the trailer has only the checksum`() async throws {
        let sent = try await signed(
            request(stream(Data("123456789".utf8))), by: signer(signsChunks: false, checksum: .crc32))
        #expect(sent.headers["X-Amz-Content-SHA256"] == "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        let text = String(decoding: try await bytes(sent.body), as: UTF8.self)
        #expect(text == "9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n")
    }

    @Test func `over http, chunks with a checksum are signed`() async throws {
        let signer = try signer(signsChunks: false, checksum: .crc32)
        let sent = try await signed(request(stream(Self.example), scheme: "http"), by: signer)
        #expect(sent.headers["X-Amz-Content-SHA256"] == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_001], [true, false])
    func `each reader gets the same bytes, in any pieces, and their number is known`(
        count: Int, isSigned: Bool
    ) async throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let signer = try signer(signsChunks: isSigned, checksum: .crc32)
        let sent = try await signed(request(stream(data)), by: signer)
        let first = try await bytes(sent.body)
        #expect(sent.body.contentLength == first.count)
        #expect(try await bytes(sent.body) == first)
        for piece in [13, 1 << 20] {
            let other = try await signed(request(stream(data, piece: piece)), by: signer)
            #expect(try await bytes(other.body) == first)
        }
    }

    @Test func `a body in memory is hashed, and one for another service, too`() async throws {
        let body = DataBody(Data("abc".utf8), contentType: nil)
        let sent = try await signed(request(body), by: signer())
        #expect(sent.headers["X-Amz-Content-SHA256"]?.hasPrefix("ba7816bf") == true)
        #expect(try await bytes(sent.body) == Data("abc".utf8))
        let other = AWSSigner(service: "glacier", region: "r", credentials: .environment, signsChunks: true)
        #expect(try other.bodyNeed(for: request(stream(Self.example))) == .digest)
    }

    @Test func `chunks alone are no content coding`() async throws {
        for signer in [try signer(), try signer(checksum: .crc32c), try signer(signsChunks: false, checksum: .crc32)] {
            let sent = try await signed(request(stream(Self.example)), by: signer)
            #expect(!sent.framedHeaders().contains(.contentEncoding))
            #expect(sent.headers["X-Amz-Content-SHA256"]?.hasPrefix("STREAMING-") == true)
        }
    }

    @Test func `other content codings come first`() async throws {
        let stream = StreamBody(
            once: AsyncStream<Data> { $0.finish() }, length: 0, additionalHeaders: ["Content-Encoding": "br"])
        #expect(try await signed(request(stream), by: signer()).framedHeaders()[.contentEncoding] == "br,aws-chunked")
        var request = try request(self.stream(Self.example))
        request.headers[.contentEncoding] = "zstd"
        #expect(try await signed(request, by: signer()).framedHeaders()[.contentEncoding] == "zstd,aws-chunked")
    }

    /// A digest is of the bytes that are sent, or of a representation in all its codings.
    @Test(arguments: ["Content-Digest", "Repr-Digest", "repr-digest"], [true, false])
    func `chunks are refused with a digest of other bytes`(name: String, isOfBody: Bool) async throws {
        let headers: HTTPHeaders = [HTTPHeaders.Name(name): "sha-256=:AAAA:"]
        let stream = StreamBody(
            once: AsyncStream<Data> { $0.finish() }, length: 1, additionalHeaders: isOfBody ? headers : [:])
        var request = try request(stream)
        if !isOfBody { request.headers.replace(with: headers) }
        let (sent, signer) = (request, try signer())
        let error = await #expect(throws: HTTPError.self) { try await signed(sent, by: signer) }
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message == "chunks for S3 change the bytes of the content, so its \(name) would be wrong "
                + "(RFC 9530): omit the digest, or don't send chunks")
    }

    @Test func `the original's length isn't sent`() async throws {
        var request = try request(stream(Self.example))
        request.headers[.contentLength] = "66560"
        let sent = try await signed(request, by: signer())
        #expect(!sent.headers.contains(.contentLength))
        try sent.validate()
    }

    @Test(arguments: [nil, -1, Int.max] as [Int?])
    func `a body without a possible length is refused before anything is sent`(length: Int?) async throws {
        let mock = MockLoader { .ok($0) }
        var request = try request(StreamBody(once: AsyncStream<Data> { $0.finish() }, length: length))
        request.authentication = .signing(by: try signer())
        let (chain, sent) = (Authenticate() --> mock, request)
        let error = await failure { try await chain.load(sent) }
        #expect(error?.code == .cannotAuthenticate && error?.message.contains("need a body of a known length") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test(arguments: [66_559, 66_561]) func `a stream of another length isn't sent to its end`(length: Int) async throws
    {
        let sent = try await signed(request(stream(Self.example, length: length)), by: signer())
        await #expect(throws: HTTPBodyError.self) { try await bytes(sent.body) }
    }

    @Test func `a request that failed can be sent again`() async throws {
        let mock = MockLoader()
            .then { throw HTTPError(.connectionLost, request: $0, message: "lost") }
            .then { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(transport: mock)
        var request = try request(stream(Self.example))
        request.headers[.contentEncoding] = "zstd"
        request.authentication = .signing(by: try signer())
        let sent = request
        let error = await failure { try await client.send(sent) }
        #expect(error?.request.headers[.contentEncoding] == "zstd")
        _ = try await client.send(try #require(error?.request))
        #expect(mock.requests.map { $0.body.contentLength } == [66_824, 66_824])
        for sent in mock.requests { #expect(sent.framedHeaders()[.contentEncoding] == "zstd,aws-chunked") }
    }

    @Test func `neither the key nor the signature is printed`() async throws {
        let sent = try await signed(request(stream(Self.example)), by: signer())
        var text = "\(sent) \(sent.body)"
        dump(sent, to: &text)
        let signature = try #require(sent.headers[.authorization]?.suffix(64))
        #expect(!text.contains("wJalr") && !text.contains(signature))
    }
}
