// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Reads a multipart response. The sequence and all part bodies share it. When the last of them is dropped, the
/// transfer ends.
final class MultipartReader: Sendable {
    private struct State: Sendable {
        var parser: MultipartParser
        var pieces: HTTPResponseBody.Iterator?
        /// The number of the part with a readable body. Nil after that body has ended or was skipped.
        var openPart: Int?
        var partCount = 0
        /// The error that ended the body. The part body and the sequence throw the same error.
        var failure: (any Error)?
    }

    private let head: HTTPResponse
    private let headLimit: Int
    /// Nil while a task reads, which has then taken the state.
    private let state: Mutex<State?>

    /// - Throws: `.invalidResponse` if the response isn't multipart, or has no valid boundary.
    init(_ response: HTTPResponse, partLimit: Int, headLimit: Int) throws(HTTPError) {
        let boundary = try Self.boundary(of: response)
        (head, self.headLimit) = (response.withoutBody, headLimit)
        state = Mutex(
            State(
                parser: MultipartParser(boundary: boundary, partLimit: partLimit, headLimit: headLimit),
                pieces: response.body.makeAsyncIterator()))
    }

    private static func boundary(of response: HTTPResponse) throws(HTTPError) -> String {
        let field = response.headers[.contentType] ?? ""
        // Some servers write blanks around the equals sign.
        let spaced = field.split(at: "=", omittingEmpty: false).map { ASCII.trimmed($0) }.joined(separator: "=")
        let type = MediaType(field)
        if let type, type.isMultipart, let boundary = type["boundary"] ?? MediaType(spaced)?["boundary"],
            (1...70).contains(boundary.utf8.count),
            !boundary.ends(with: " "), ASCII.allBytes(of: boundary, fit: { (0x20...0x7E).contains($0) })
        {
            return boundary
        }
        let name = type?.essence ?? "no Content-Type"
        throw response.error(
            .invalidResponse,
            type?.isMultipart == true
                ? "the Content-Type \(name) has no boundary of 1 to 70 visible characters (RFC 2046, 5.1.1)"
                : "expected a multipart response, and received \(name)")
    }

    /// Returns the next part, and skips what is unread in the previous one. Returns nil after the last part.
    func next() async throws -> ResponsePart? {
        try await reading { state in
            state.openPart = nil
            while true {
                switch try await event(&state) {
                case .head(let headers):
                    state.partCount += 1
                    state.openPart = state.partCount
                    return part(state.partCount, headers)
                case .bytes, .endOfPart: continue
                case .end:
                    if let rest = state.pieces.take() { await Self.readEpilogue(rest) }
                    return nil
                }
            }
        }
    }

    /// Reads a short epilogue that arrives within a second, so that the connection can be reused. Its content and its
    /// end don't matter (RFC 2046, 5.1.1).
    private static func readEpilogue(_ pieces: HTTPResponseBody.Iterator) async {
        await withTaskGroup { group in
            group.addTask {
                var (pieces, rest) = (pieces, 16 << 10)
                while rest > 0, let piece = try? await pieces.next() { rest -= piece.count }
            }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func part(_ number: Int, _ headers: HTTPHeaders) -> ResponsePart {
        var response = head
        response.headers = headers
        response.body = HTTPResponseBody(length: nil, pull: { try await self.nextPiece(ofPart: number) })
        return ResponsePart(response: response, headLimit: headLimit)
    }

    private func nextPiece(ofPart number: Int) async throws -> Data? {
        try await reading { state in
            guard state.openPart == number else {
                throw head.error(
                    .unknown, "part \(number) was skipped, because the next part was requested before its end")
            }
            if case .bytes(let piece) = try await event(&state) { return piece }
            state.openPart = nil
            return nil
        }
    }

    private func event(_ state: inout State) async throws -> MultipartParser.Event {
        if let failure = state.failure { throw failure }
        do {
            while true {
                if let event = try state.parser.next() { return event }
                if let piece = try await state.pieces?.next() {
                    state.parser.append(piece)
                } else {
                    state.pieces = nil
                    state.parser.finish()
                }
            }
        } catch {
            let failure = (error as? MultipartParser.Fault).map { head.error($0.code, $0.message) } ?? error
            (state.failure, state.pieces) = (failure, nil)
            throw failure
        }
    }

    /// Takes the state out of its mutex while a task reads, because a task can't hold a mutex while it is suspended.
    private func reading<Value>(_ work: (inout State) async throws -> Value) async throws -> Value {
        guard var current = state.withLock({ $0.take() }) else {
            throw head.error(
                .unknown, "several tasks read a multipart response at the same time (read its parts in order)")
        }
        defer { state.withLock { [current] in $0 = current } }
        return try await work(&current)
    }
}
