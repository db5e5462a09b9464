// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// Loaders and processes that end with requests in flight, and requests that end without a trace.
    struct Ends {
        let count: Int

        /// The process ends during transfers. The process that started it observes the result.
        func exitInFlight() async throws {
            let server = Self.stalling()
            let loader = CurlLoader()
            for number in 0..<count {
                Task { try await loader.load(HTTPRequest(url: server.url("/\(number)"))) }
            }
            while server.connectionCount < min(count, 32) { await Task.yield() }
            print("ok: ends with \(count) requests in flight")
            exit(0)
        }

        /// The process ends while the threads of loaders end, which have used TLS and have no references any more.
        func exitWhileLeaving() async throws {
            let server = RawServer { connection, _ in _ = connection.write("no TLS\r\n") && connection.waitForEnd() }
            guard let url = URL(string: "https://127.0.0.1:\(server.port)") else { fail("no URL") }
            var loaders = (0..<count).map { _ in CurlLoader() }
            await withTaskGroup(of: Bool.self) { group in
                for loader in loaders {
                    group.addTask { (try? await loader.load(HTTPRequest(url: url))) == nil }
                }
                for await hasFailed in group { expect(hasFailed, "a server without TLS spoke it") }
            }
            print("ok: ends with \(count) loaders that leave")
            loaders = []
            usleep(.random(in: 0...2000))  // So that the exit finds them anywhere on their way.
            exit(0)
        }

        /// Children that are forked without exec exit at once, and leave the parent's connections alone.
        func fork() async throws {
            let server = RawServer { connection, _ in
                while let request = connection.readRequest() {
                    if request.head.hasPrefix("GET /slow") { usleep(300_000) }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            typealias Fork = @convention(c) () -> pid_t
            guard let fork = dlsym(nil, "fork").map({ unsafeBitCast($0, to: Fork.self) }) else { fail("no fork") }
            let loader = CurlLoader()
            _ = try await loader.load(HTTPRequest(url: server.url()))
            for number in 0..<count {
                async let slow = loader.load(HTTPRequest(url: server.url("/slow")))
                let begun = ContinuousClock.now
                let child = fork()
                if child == 0 { exit(7) }
                expect(child > 0, "fork failed")
                var status: CInt = 0
                waitpid(child, &status, 0)
                let time = ContinuousClock.now - begun
                expect(status == 7 << 8, "child \(number) ended with \(status)")
                expect(time < .milliseconds(800), "child \(number) took \(time) to exit")
                _ = try await slow
                let after = try await loader.load(HTTPRequest(url: server.url()))
                expect(after.metrics.isReusedConnection, "a connection of the parent was closed")
            }
            print("ok: \(count) children exited at once")
        }

        /// A process without free descriptors reports that at once, and continues when there are some again.
        func exhaust() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            var failures = 0
            let request = HTTPRequest(method: .post, url: server.url())
            var hasty = request
            hasty.timeout = .seconds(1)  // This process's server may be the one that gets no descriptor.
            for number in 0..<count {
                let (loader, spare) = (CurlLoader(), number / 2 % 8)
                if number % 2 == 0 {
                    _ = try await loader.load(request)
                    await loader.reset()
                }
                let held = Self.allDescriptors(but: spare)
                let begun = ContinuousClock.now
                do { _ = try await loader.load(hasty) } catch {
                    let isExhausted = error.message.contains("its limit of memory, threads or files")
                    expect((isExhausted && !error.mayHaveBeenSent) || error.code == .timedOut, "\(error)")
                    if isExhausted { failures += 1 }
                }
                expect(ContinuousClock.now - begun < .seconds(10), "with \(spare) spare, it took long")
                for descriptor in held { close(descriptor) }
                _ = try await loader.load(request)
            }
            expect(failures > 0, "none of \(count) found no descriptor")
            print("ok: \(failures) of \(count) found no descriptor")
        }

        /// Takes all descriptors that the process may have, but some.
        private static func allDescriptors(but spare: Int) -> [CInt] {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var held: [CInt] = []
            for _ in 0..<2 {
                while case let descriptor = dup(0), descriptor >= 0 { held.append(descriptor) }
                usleep(10_000)  // The server may be about to close its end of a connection.
            }
            for descriptor in held.suffix(spare) { close(descriptor) }
            return held.dropLast(spare)
        }

        /// Loaders without references end their threads, with streamed bodies unread or not.
        func dropLoaders() async throws {
            let server = RawServer { connection, _ in
                while connection.readRequest() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\nthe beginning")
                }
            }
            try await drop(server)
            try await Task.sleep(for: .milliseconds(500))
            let before = Resources()
            for _ in 0..<count { try await drop(server) }
            for _ in 0..<400 where !Resources().isWithin(before) {
                try await Task.sleep(for: .milliseconds(50))
            }
            let after = Resources()
            expect(after.isWithin(before), "\(after) are left, there were \(before)")
            print("ok: \(count) loaders dropped, \(before) before, \(after) after")
        }

        private func drop(_ server: RawServer) async throws {
            let loader = CurlLoader()
            var request = HTTPRequest(url: server.url())
            request.responseDelivery = .streamed
            let response = try await loader.load(request)
            for try await _ in response.body { break }
        }

        /// Request after request, the process grows by less than 2 MiB in all.
        ///
        /// What leaks grows in each of four rounds, so the least growth of a round counts. The allocator and a
        /// sanitizer may take memory once, in any of them.
        func keepMemory() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let loader = CurlLoader()
            for _ in 0..<1000 { _ = try await loader.load(HTTPRequest(url: server.url())) }
            var growths: [Int] = []
            for _ in 0..<4 {
                let before = Self.residentKilobytes
                for _ in 0..<count / 4 { _ = try await loader.load(HTTPRequest(url: server.url())) }
                growths.append(Self.residentKilobytes - before)
            }
            let growth = growths.min() ?? 0
            expect(growth < 512, "each quarter of \(count) requests took at least \(growth) KiB: \(growths)")
            print("ok: quarters of \(count) requests took \(growths) KiB")
        }

        private static func stalling() -> RawServer {
            RawServer { connection, number in
                while connection.readRequest() != nil {
                    if number % 3 == 1 { connection.write("HTTP/1.1 200 OK\r\n") }
                    if number % 3 == 2 { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome") }
                }
            }
        }

        private static var residentKilobytes: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
    }
#endif
