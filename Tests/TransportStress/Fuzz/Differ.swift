// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import CLibcurl
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// The same requests over both carriers, to a server that sends the same bytes in the same pieces to both.
    ///
    /// What the caller receives must be the same, and whether the connection is used again, except for what
    /// ``Strictness`` explains. Times may decide what is received, for example when a connection is reset, so that two
    /// outcomes differ only if none of several attempts over one carrier is equal to one over the other.
    struct Differ {
        let count: Int
        let firstSeed: UInt64
        /// The only exchange, to look at it again, or nil for all.
        var only: Int?

        /// What came of a request, and of its connection.
        struct Outcome: Equatable {
            var failure: HTTPError.Code?
            var status = 0
            /// The interim heads, the head and the trailers.
            var fields: [String] = []
            var body = Data()
            var mayHaveBeenSent = true
            /// Whether the next request used the connection, or nil if it received something else than its response.
            var isUsedAgain: Bool?
            var message = ""

            static func == (left: Self, right: Self) -> Bool {
                left.failure == right.failure && left.status == right.status && left.fields == right.fields
                    && left.body == right.body && left.mayHaveBeenSent == right.mayHaveBeenSent
                    && left.isUsedAgain == right.isUsedAgain
            }

            var summary: String {
                let use = isUsedAgain.map { $0 ? "kept" : "closed" } ?? "broken"
                return (failure.map { "\($0.rawValue) (\(message))" } ?? "success") + ", \(status), \(use)"
            }
        }

        /// A transport with one of the carriers, and a connection that is idle before each exchange.
        private struct Carrier {
            let loader: CurlLoader
            let server: RawServer

            init(isDirect: Bool, _ server: RawServer) {
                var configuration = TransportConfiguration()
                configuration.sendsHTTP1Directly = isDirect
                configuration.idleTimeout = .milliseconds(150)
                (loader, self.server) = (CurlLoader(configuration), server)
            }

            /// Sends a request that has an ordinary response, and returns whether it used an idle connection. Returns
            /// nil if it received something else, and has then opened another connection.
            func probe(_ id: Int) async -> Bool? {
                for attempt in 0..<20 {
                    var request = HTTPRequest(url: server.url("/probe/\(id)"))
                    request.timeout = .seconds(3)
                    if let response = try? await loader.load(request),
                        (try? await response.body.data()) == Data("\(id)".utf8)
                    {
                        return attempt == 0 ? response.metrics.isReusedConnection : nil
                    }
                    await loader.reset()
                }
                fail("id \(id): an ordinary request fails after it")
            }

            func outcome(of request: HTTPRequest, _ id: Int) async -> Outcome {
                var outcome = Outcome()
                do {
                    let response = try await loader.load(request)
                    note(response, &outcome)
                    for try await piece in response.body { outcome.body += piece }
                    outcome.fields += response.trailers.map { "trailer \($0.name): \($0.value)" }
                } catch let error as HTTPError {
                    (outcome.failure, outcome.message) = (error.code, error.message)
                    outcome.mayHaveBeenSent = error.mayHaveBeenSent
                    if let response = error.response {
                        outcome.fields = []
                        note(response, &outcome)
                        if outcome.body.isEmpty { outcome.body = (try? await response.body.data()) ?? Data() }
                    }
                } catch {
                    fail("id \(id): not an HTTPError: \(error)")
                }
                outcome.isUsedAgain = await probe(id)
                return outcome
            }

            private func note(_ response: HTTPResponse, _ outcome: inout Outcome) {
                outcome.status = response.status.code
                for response in response.interimResponses + [response] {
                    outcome.fields.append("status \(response.status.code)")
                    outcome.fields += response.headers.map { "\($0.name): \($0.value)" }
                }
            }
        }

        private final class Figures: Sendable {
            let found = Mutex(Found())
        }

        private struct Found {
            var finished = 0
            var explained: [String: Int] = [:]
            var others: [String: (count: Int, example: String)] = [:]
        }

        func run() async throws {
            let server = FuzzServer.make(tls: nil)
            let figures = Figures()
            let watch = Fuzz.watchProgress { figures.found.withLock { $0.finished } }
            let time = await ContinuousClock().measure {
                await withTaskGroup(of: Void.self) { group in
                    for lane in 0..<12 {
                        group.addTask {
                            let (direct, libcurl) = (Carrier(isDirect: true, server), Carrier(isDirect: false, server))
                            (_, _) = (await direct.probe(lane), await libcurl.probe(lane))
                            for id in stride(from: lane, to: count, by: 12) where only == nil || id == only {
                                await exchange(id, direct, libcurl, figures)
                            }
                        }
                    }
                }
            }
            watch.cancel()
            let all = figures.found.withLock { $0 }
            for (kind, other) in all.others.sorted(by: { $0.value.count > $1.value.count }) {
                print("\(other.count) x \(kind)\n    \(other.example)")
            }
            expect(all.others.isEmpty, "\(all.others.count) kinds of differences are not explained")
            let explained = all.explained.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
            print("ok: \(count) exchanges from seed \(firstSeed) over each carrier in \(time)")
            print("    differences that are explained: \(explained.joined(separator: ", "))")
            print("    \(String(cString: curl_version()))")
        }

        private func exchange(
            _ id: Int, _ direct: Carrier, _ libcurl: Carrier, _ figures: Figures
        ) async {
            let seed = firstSeed &+ UInt64(id)
            var random = SeededGenerator(seed: ~seed)
            let request = Fuzz.request(id, seed, direct.server, &random)
            var (ours, theirs): ([Outcome], [Outcome]) = ([], [])
            repeat {
                ours.append(await direct.outcome(of: request, id))
                theirs.append(await libcurl.outcome(of: request, id))
            } while ours.count < 5 && !ours.contains(where: theirs.contains)
            figures.found.withLock { $0.finished += 1 }
            guard !ours.contains(where: theirs.contains) else { return }
            let response = FuzzedResponse(id: id, seed: seed, isHead: request.method == .head)
            let seen = (direct: Set(ours.map(\.summary)).sorted(), libcurl: Set(theirs.map(\.summary)).sorted())
            // One explanation is enough, because the other outcomes depend on times.
            let pairs = ours.flatMap { our in theirs.map { (our, $0) } }
            let rule = pairs.lazy.compactMap { Strictness.explanation(of: $0, $1, response, request) }.first
            figures.found.withLock { found in
                if let rule { return found.explained[rule, default: 0] += 1 }
                let text = String(decoding: response.bytes.prefix(700), as: UTF8.self).debugDescription
                var example = "id \(id), seed \(seed), \(request.method) \(request.responseDelivery), "
                example +=
                    "\(response.isEarly ? "before" : "after") a body of \(request.body.contentLength ?? -1) bytes, "
                example += "\(response.end), pieces of \(response.pieceSize): \(text)"
                for (our, their) in zip(ours[0].fields, theirs[0].fields) where our != their {
                    example += "\n    \(our) | \(their)".prefix(300)
                }
                example += "\n    bodies of \(ours[0].body.count) and \(theirs[0].body.count) bytes"
                found.others["\(seen.direct) | \(seen.libcurl)", default: (0, example)].count += 1
            }
        }
    }

    /// What the direct carrier does differently on purpose (guide "Running over libcurl"), and how it is recognized.
    enum Strictness: String, CaseIterable {
        /// The lines of chunks end with CRLF, and their sizes are followed only by spaces and extensions.
        case chunkLines = "strict chunk lines"
        /// Later versions of libcurl refuse two blanks before a status, which RFC 9112, 4 lets a recipient accept.
        case statusLines = "strict status lines"
        /// libcurl discards bytes that arrive together with the end of a response, and uses the connection again.
        case excess = "bytes after a response"
        /// libcurl reads a body, which the end of the connection ends.
        case switching = "101"
        /// libcurl refuses a header line of more than 100 KiB, or takes long for it.
        case longLines = "long header lines"
        /// libcurl takes the last CR of chunks for the end of the body.
        case lastLF = "the last LF"
        /// A body that can't be decoded is cancelled, at its end or before.
        case decoding = "bodies that can't be decoded"
        /// libcurl waits for the end of the first line.
        case unterminated = "unfinished lines that are not HTTP"
        /// libcurl finds `close` in any option, such as `closed`.
        case closing = "options that contain close"
        /// A folded `Connection` may mean `close`.
        case folded = "folded Connection"
        /// After HTTP/1.0 with `keep-alive`, libcurl uses the connection again, despite `Transfer-Encoding` or `close`
        /// (RFC 9112, 6.1 and 9.3).
        case outdated = "HTTP/1.0 with Transfer-Encoding or close"
        /// libcurl waits for more after a line that begins with NUL.
        case nul = "NUL"
        /// A carrier stops sending a body after an error, and closes the connection, unless all of the body is sent already.
        case early = "errors before the end of the request"

        /// libcurl refuses a line before its end has arrived.
        case unjudged = "unfinished lines"
        /// The direct carrier reads what has arrived of a response although the rest of the request can't be sent.
        case lost = "responses before the end of the request"
        /// A reset may arrive before the bytes that precede it are read.
        case reset = "resets"

        static func explanation(
            of direct: Differ.Outcome, _ libcurl: Differ.Outcome, _ response: FuzzedResponse, _ request: HTTPRequest
        ) -> String? {
            allCases.first { $0.explains(direct, libcurl, response, request) }?.rawValue
        }

        private func explains(
            _ direct: Differ.Outcome, _ libcurl: Differ.Outcome, _ response: FuzzedResponse, _ request: HTTPRequest
        ) -> Bool {
            let bytes = response.bytes
            var same = direct
            same.isUsedAgain = libcurl.isUsedAgain
            let isStricter = same == libcurl && direct.isUsedAgain == false
            switch self {
            case .chunkLines:
                return direct.message == TransportFailure.brokenChunks.message
                    && (libcurl.body.starts(with: direct.body) || libcurl.failure == .cannotDecodeResponse)
            case .statusLines:
                return libcurl.message.hasPrefix("the response is not HTTP")
                    && Self.matches(bytes, /(?:^|\n)HTTP\/1\.[0-9][ \t]{2}/)
            case .excess: return isStricter && Self.hasExcess(bytes, request)
            case .switching: return direct.status == 101 && direct.body.isEmpty && direct.isUsedAgain == false
            case .reset:
                let failures = [direct.failure, libcurl.failure]
                return response.end == .reset && failures.contains(.connectionLost)
            case .longLines:
                let isLate = libcurl.failure == .timedOut && libcurl.status == 0
                return (isLate || libcurl.failure == .responseTooLarge) && Self.matches(bytes, /\n[^\n]{40000}/)
            case .lastLF:
                return direct.message == TransportFailure.truncated.message && libcurl.failure == nil
                    && bytes.last == 0x0D
            case .decoding: return same == libcurl && direct.failure == .cannotDecodeResponse
            case .unterminated:
                return direct.message.hasPrefix("the response is not HTTP") && !bytes.contains(0x0A)
            case .closing: return direct.isUsedAgain == true && Self.matches(bytes, /(?i)\nConnection:[^\n]*close/)
            case .folded: return isStricter && Self.matches(bytes, /(?i)\nConnection:[^\n]*\n[ \t]/)
            case .outdated:
                return isStricter && Self.matches(bytes, /HTTP\/1\.0[ ]/)
                    && Self.matches(bytes, /(?i)\n(?:Transfer-Encoding:|Connection:[^\n]*close)/)
            case .nul: return libcurl.failure == .timedOut && direct.failure == .invalidResponse && bytes.contains(0)
            case .unjudged:
                return direct.failure == .timedOut && libcurl.failure == .invalidResponse && bytes.last != 0x0A
            case .lost:
                guard response.isEarly, libcurl.failure == .connectionLost else { return false }
                let isSame = direct.status == libcurl.status && direct.body.starts(with: libcurl.body)
                return direct.failure == .invalidResponse || direct.failure == nil && isSame
            case .early: return same == libcurl && response.isEarly && direct.status >= 300 && !request.body.isEmpty
            }
        }

        private static func matches(_ bytes: [UInt8], _ pattern: Regex<Substring>) -> Bool {
            String(decoding: bytes, as: UTF8.self).contains(pattern.matchingSemantics(.unicodeScalar))
        }

        /// Whether bytes follow the end of the response.
        private static func hasExcess(_ bytes: [UInt8], _ request: HTTPRequest) -> Bool {
            var (reader, lines) = (ResponseReader(limit: 1 << 20, isSecure: false), [UInt8]())
            reader.begin(isHead: request.method == .head)
            return bytes.withUnsafeBytes { bytes in
                var rest = bytes
                while let step = try? reader.next(&rest, lines: &lines) {
                    switch step {
                    case .needsMore: return false
                    case .interim, .head: lines = []
                    case .body: break
                    case .end: return !rest.isEmpty
                    }
                }
                return false
            }
        }
    }
#endif
