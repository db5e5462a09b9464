import Foundation
import Synchronization

/// Undoes the content codings of a response (RFC 9110, 8.4), whole or as it is read.
///
/// A coding that is not known is left as it is, and its header with it. So is a part of a representation (206): a range
/// counts the bytes of the coded representation (RFC 9110, 14.1.2), so that a part of them can only be joined with others.
struct ContentDecoder: Sendable {
    /// What requests are offered to be answered in.
    static let offered = "gzip, deflate"

    private let areGzip: [Bool]
    private let maximumRatio: Int
    private static let maximumCodings = 5

    /// nil when there is nothing to undo, or something that is not known.
    init?(_ headers: HTTPHeaders, maximumRatio: Int) throws(TransportFailure) {
        guard headers.contains(.contentEncoding), !Self.arePartial(headers) else { return nil }
        let names = headers.values(for: .contentEncoding)
            .flatMap { $0.split(separator: ",") }
            .map { ASCII.lowercased(ASCII.trimmed(String($0))) }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard names.count <= Self.maximumCodings else {
            throw TransportFailure(.invalidResponse, "the body has more than \(Self.maximumCodings) content codings")
        }
        let known = ["gzip": true, "x-gzip": true, "deflate": false]
        areGzip = names.compactMap { known[$0] }
        self.maximumRatio = maximumRatio
        if areGzip.isEmpty || areGzip.count < names.count { return nil }
    }

    /// Whether the headers are those of a 206: a `Content-Range` that names a range, or a body of several ranges.
    ///
    /// The `Content-Range` of a 416 names none (RFC 9110, 14.4), and its body is whole.
    private static func arePartial(_ headers: HTTPHeaders) -> Bool {
        if headers.values(for: .contentRange).contains(where: { !$0.contains("*/") }) { return true }
        return headers.mediaType?.essence == "multipart/byteranges"
    }

    /// Takes what tells of the coding out of the headers, as if it had never been.
    static func clean(_ headers: inout HTTPHeaders) {
        headers[.contentEncoding] = nil
        headers[.contentLength] = nil
    }

    /// The whole body; never more than `limit` bytes.
    func decode(_ data: Data, upTo limit: Int) throws(TransportFailure) -> Data {
        let stack = InflaterStack(areGzip: areGzip, maximumRatio: maximumRatio)
        var decoded = Data()
        do throws(Inflater.Fault) {
            stack.feed(data)
            while let piece = try stack.next() {
                guard decoded.count + piece.count <= limit else { throw .limit }
                decoded.append(piece)
            }
            try stack.finish()
        } catch {
            throw Self.failure(error)
        }
        return decoded
    }

    /// A source of decoded bytes over one of coded bytes; nothing is decoded before it is asked for.
    func pull(_ source: @escaping @Sendable () async throws -> Data?) -> @Sendable () async throws -> Data? {
        let stack = LockedStack(InflaterStack(areGzip: areGzip, maximumRatio: maximumRatio))
        return {
            while true {
                if let piece = try stack.next() { return piece }
                guard let input = try await source() else {
                    try stack.finish()
                    return nil
                }
                stack.feed(input)
            }
        }
    }

    fileprivate static func failure(_ fault: Inflater.Fault) -> TransportFailure {
        switch fault {
        case .corrupt: TransportFailure(.cannotDecodeResponse, "the body's content coding is corrupt")
        case .cutShort: TransportFailure(.cannotDecodeResponse, "the body's content coding is cut short")
        case .surplus:
            TransportFailure(.cannotDecodeResponse, "there are bytes behind the end of the body's content coding")
        case .limit: TransportFailure(.responseTooLarge, "the decoded body is larger than allowed; see responseLimit")
        case .bomb:
            TransportFailure(
                .responseTooLarge,
                "the decoded body is too many times larger than its coded bytes; see maximumDecodingRatio")
        case .memory: TransportFailure(.unknown, "there is no memory to decode the body")
        }
    }
}

/// The codings of a body whose reader may move from task to task. A class, since the reader's closure shares it.
private final class LockedStack: Sendable {
    private let stack: Mutex<InflaterStack>

    init(_ stack: sending InflaterStack) { self.stack = Mutex(stack) }

    func next() throws -> Data? {
        do { return try stack.withLock { try $0.next() } } catch { throw translated(error) }
    }

    func finish() throws {
        do { try stack.withLock { try $0.finish() } } catch { throw translated(error) }
    }

    func feed(_ bytes: Data) { stack.withLock { $0.feed(bytes) } }

    private func translated(_ error: any Error) -> any Error {
        (error as? Inflater.Fault).map(ContentDecoder.failure) ?? error
    }
}
