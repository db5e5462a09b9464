// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import CLibcurl
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// Requests to a server that responds with arbitrary bytes, many at a time over connections that are reused.
    ///
    /// Each request carries an id, which the server returns in its response. A response with another request's id fails
    /// the run, and so does a request that does not end, or a thread that is busy once all have ended.
    struct Fuzz {
        let count: Int
        let firstSeed: UInt64
        let isSecure: Bool

        private final class Figures: Sendable {
            struct Contents {
                var outcomes: [String: Int] = [:]
                var reused = 0
                var finished = 0
            }
            let contents = Mutex(Contents())
        }

        func run() async throws {
            let tls = isSecure ? RawTLS() : nil
            if isSecure, tls == nil { return print("ok: skipped, OpenSSL is not installed") }
            let (server, figures) = (FuzzServer.make(tls: tls), Figures())
            let loaders = [true, false].map { CurlLoader(configuration(isDirect: $0)) }
            let watch = Self.watchProgress { figures.contents.withLock { $0.finished } }
            let time = await ContinuousClock().measure {
                await withTaskGroup(of: Void.self) { group in
                    for lane in 0..<24 {
                        group.addTask {
                            for id in stride(from: lane, to: count, by: 24) {
                                await exchange(id, server, loaders[lane % 2], figures)
                            }
                        }
                    }
                }
            }
            watch.cancel()
            try await expectIdle()
            let contents = figures.contents.withLock { $0 }
            let outcomes = contents.outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
            let version = String(cString: curl_version())
            print("ok: \(count) exchanges from seed \(firstSeed) in \(time), \(contents.reused) on reused connections")
            print("    \(outcomes.joined(separator: ", "))")
            print("    \(version)")
        }

        private func configuration(isDirect: Bool) -> TransportConfiguration {
            var configuration = TransportConfiguration()
            (configuration.httpVersions, configuration.sendsHTTP1Directly) = (.http1, isDirect)
            configuration.security.roots = .pem(Data(Certificates.authority.utf8))
            configuration.idleTimeout = .milliseconds(80)
            configuration.maximumConnectionsPerHost = 16
            return configuration
        }

        private func exchange(_ id: Int, _ server: RawServer, _ loader: CurlLoader, _ figures: Figures) async {
            let seed = firstSeed &+ UInt64(id)
            var random = SeededGenerator(seed: ~seed)
            let request = Self.request(id, seed, server, &random)
            let task = Task { await load(request, id, loader, figures) }
            if random.chance(2) {
                try? await Task.sleep(for: .microseconds(random.below(2000)))
                task.cancel()
            }
            let outcome = await task.value
            figures.contents.withLock { contents in
                contents.outcomes[outcome, default: 0] += 1
                contents.finished += 1
            }
        }

        static func request(_ id: Int, _ seed: UInt64, _ server: RawServer, _ random: inout SeededGenerator)
            -> HTTPRequest
        {
            let method = random.pick([HTTPMethod.get, .get, .get, .head, .post, .put, .patch, .delete])
            var request = HTTPRequest(method: method, url: server.url("/\(id)/\(seed)"))
            if [.post, .put, .patch].contains(method) {
                let size = random.pick([0, 10, 10, 70_000, 300_000])
                request.body =
                    random.chance(50) ? DataBody(Data(count: size)) : Pieces(size: size, isKnown: random.chance(50))
            }
            request.responseDelivery = random.chance(50) ? .buffered : .streamed
            request.responseLimit = 4 << 20
            request.timeout = .seconds(3)
            return request
        }

        private func load(_ request: HTTPRequest, _ id: Int, _ loader: CurlLoader, _ figures: Figures) async -> String {
            do {
                let response = try await loader.load(request)
                if response.metrics.isReusedConnection { figures.contents.withLock { $0.reused += 1 } }
                var received = Data(response.headers.map { "\($0.name): \($0.value)\n" }.joined().utf8)
                var failure: String?
                do {
                    for try await piece in response.body { received += piece }
                } catch {
                    let isCancelled = error is CancellationError && Task.isCancelled
                    failure = isCancelled ? HTTPError.Code.cancelled.rawValue : (error as? HTTPError)?.code.rawValue
                    expect(failure != nil, "id \(id), seed \(firstSeed &+ UInt64(id)): not an HTTPError: \(error)")
                }
                let others = FuzzedResponse.ids(in: received).subtracting([id])
                expect(others.isEmpty, "id \(id), seed \(firstSeed &+ UInt64(id)): received the response of \(others)")
                return failure ?? "success"
            } catch {
                let isExpected = ![.invalidRequest, .unknown].contains(error.code)
                expect(isExpected, "id \(id), seed \(firstSeed &+ UInt64(id)): \(error)")
                return ProcessInfo.processInfo.environment["FUZZ_MESSAGES"] == nil
                    ? error.code.rawValue : "\n    \(error.code.rawValue): \(error.message)"
            }
        }

        /// Fails the run when nothing ends for ten seconds: each request has a time limit of three.
        static func watchProgress(_ count: @escaping @Sendable () -> Int) -> Task<Void, Never> {
            Task {
                var last = -1
                while (try? await Task.sleep(for: .seconds(10))) != nil {
                    alarm(60)
                    let finished = count()
                    expect(finished != last, "no request has ended for ten seconds, after \(finished)")
                    last = finished
                }
            }
        }

        /// Fails the run when threads are busy although nothing is under way.
        private func expectIdle() async throws {
            try await Task.sleep(for: .milliseconds(500))
            let before = clock()
            try await Task.sleep(for: .seconds(1))
            let used = Double(clock() - before) / 1_000_000
            expect(used < 0.3, "the process used \(used) s of the processor in a second without requests")
        }
    }

    /// A body that is pulled in pieces, of known or unknown length.
    private struct Pieces: HTTPBody {
        let size: Int
        let isKnown: Bool
        var contentLength: Int? { isKnown ? size : nil }

        func chunks() -> BodyChunks {
            let left = Mutex(size)
            return BodyChunks(length: contentLength) {
                let count = left.withLock { left in
                    let count = min(left, 20_000)
                    left -= count
                    return count
                }
                await Task.yield()
                return count > 0 ? Data(count: count) : nil
            }
        }
    }
#endif
