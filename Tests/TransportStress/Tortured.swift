// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadOAuth
    import LetterheadTransfers
    import Synchronization

    /// A scenario in which calls fail (`Torture`). It prints how many calls were made, and how the operation ended.
    ///
    /// The operation succeeds or throws an `HTTPError`. Its files are those from before or the new ones, and whole. It
    /// succeeds when it is tried again, and leaves no descriptor.
    final class Tortured: Sendable {
        static let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
        private static let old = Data("old".utf8)
        private let (scenario, url, numbers): (Torture.Scenario, URL, [Int])
        private let configuration: TransportConfiguration
        private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString)")
        private let reports = Mutex(0)
        private var file: URL { folder.appending(path: "file") }
        private var source: URL { folder.appendingPathExtension("source") }
        private var store: UploadStore { UploadStore(in: folder) }
        private var tokens: OAuth2.FileTokenStore { OAuth2.FileTokenStore(file) }

        /// - Parameter arguments: the scenario, the carrier, the arguments of `torture_begin`, and the URL of the server.
        init(_ arguments: [String]) {
            guard arguments.count == 6, let scenario = Torture.Scenario(rawValue: arguments[0]),
                let url = URL(string: arguments[5].replacingOccurrences(of: "127.0.0.1", with: "localhost"))
            else { fail("wrong arguments") }
            configuration = changed(TransportConfiguration()) { $0.sendsHTTP1Directly = arguments[1] == "direct" }
            (self.scenario, self.url, numbers) = (scenario, url, arguments.compactMap { Int($0) })
        }

        func run() async throws {
            typealias Begin = @convention(c) (CInt, Int, CInt) -> Void
            guard let begin = dlsym(nil, "torture_begin"), let end = dlsym(nil, "torture_end"), numbers.count == 3
            else { fail(".ci/torture.c is not preloaded") }
            try await prepare()
            defer { for place in [folder, source] { try? FileManager.default.removeItem(at: place) } }
            let before = Self.descriptors
            unsafeBitCast(begin, to: Begin.self)(CInt(numbers[0]), numbers[1], CInt(numbers[2]))
            var client: HTTPClient? = client()
            let outcome = await outcome(client)
            let calls = unsafeBitCast(end, to: (@convention(c) () -> Int).self)()
            try await check(isDone: outcome == nil)
            // The half of a download may have been lost, and must arrive again first. The last cookie is saved, too.
            var again = outcome
            for _ in 0..<3 where again != nil || scenario == .cookies { again = await self.outcome(client) }
            expect(again == nil, "the operation fails with \(again ?? "") again, after \(outcome ?? "")")
            reports.withLock { $0 = 0 }
            try await check(isDone: true)
            client = nil
            for _ in 0..<2_000 where Self.descriptors.count > before.count {
                try await Task.sleep(for: .milliseconds(1))
            }
            expect(Self.descriptors.count <= before.count, "\(Self.descriptors) are left of \(before)")
            print("\(calls) \(outcome ?? "ok")")
        }

        /// The open descriptors, except for the timers of Dispatch.
        private static var descriptors: [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.map { "/proc/self/fd/\($0)" }
                .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: $0) }
                .filter { !$0.hasSuffix("[timerfd]") }.sorted()
        }

        /// Creates the files, and lets the runtime open its descriptors.
        private func prepare() async throws {
            try await Task.sleep(for: .milliseconds(1))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            switch scenario {
            case .get, .post, .compressed, .upload: try Self.content.write(to: source)
            case .download, .resume:
                try Self.old.write(to: file)
                if scenario == .resume { expect(await outcome(client()) != nil, "the first download is whole") }
            case .tokens:
                try await tokens.save(.init(accessToken: "a0", refreshToken: "r0", expiresAt: Date() - 10))
            case .cookies:
                CookieJar(file: file).set(CookieJar.Cookie("old", "1", domain: "localhost", expires: Date() + 1000))
            }
        }

        private func client() -> HTTPClient {
            let tokens = HTTPAuthentication.oauth2(
                client: OAuth2.Client(id: "app"), tokenEndpoint: url.appending(path: "token"), grant: .storedTokens,
                store: tokens, allowedOrigins: [url])
            let report: @Sendable (any Error) -> Void = { _ in self.reports.withLock { $0 += 1 } }
            return HTTPClient(
                environment: ServerEnvironment(baseURL: url), authentication: scenario == .tokens ? tokens : nil,
                cookies: scenario == .cookies ? CookieJar(file: file, onError: report) : nil,
                transport: HTTPClient.makeTransport(configuration))
        }

        /// Nil for a success.
        private func outcome(_ client: HTTPClient?) async -> String? {
            do { try await operate(client ?? self.client()) } catch {
                guard let error = error as? HTTPError else { fail("an error of another type: \(error)") }
                return error.code.rawValue
            }
            return nil
        }

        private func operate(_ client: HTTPClient) async throws {
            var request = HTTPRequest(url: url.appending(path: scenario == .get ? "compressed" : "\(scenario)"))
            switch scenario {
            case .tokens, .cookies: try await client.send(request)
            case .get: expect(try await client.send(request).body.data() == Self.content, "another body")
            case .post, .compressed:
                let body = FileBody(at: source)
                request = HTTPRequest(method: .post, url: url.appending(path: "echo"))
                request.body = scenario == .post ? body : body.compressed()
                expect(try await client.send(request).body.data() == Self.content, "another body")
            case .download: try await client.download(Get<HTTPResponse>("content"), to: file)
            case .resume:
                try await client.download(
                    Get<HTTPResponse>("part"), to: file, resuming: .fromPart,
                    continuing: Backoff(.immediate, maximumRetries: 0))
            case .upload:
                try await client.upload(
                    Post<HTTPResponse>("files"), from: FileBody(at: source), resuming: store,
                    continuing: Backoff(.immediate))
            }
        }

        private func check(isDone: Bool) async throws {
            var names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
            let bytes = try? Data(contentsOf: file)
            switch scenario {
            case .get, .post, .compressed: break
            case .download, .resume:
                expect(bytes == (isDone ? Self.content : Self.old), "\(bytes?.count ?? -1) bytes, done: \(isDone)")
                if !isDone, scenario == .resume { names = names.filter { !$0.hasPrefix(".file.letterhead-part") } }
            case .upload:
                expect(try store.uploads().count == names.count { $0.hasSuffix(".json") }, "a broken entry")
                if !isDone { names = names.filter { !$0.hasSuffix(".json") && !$0.hasSuffix(".json.lock") } }
            case .tokens:
                let token = try await tokens.load()?.refreshToken?.reveal()
                expect(token.map { $0 >= (isDone ? "r1" : "r0") } == true, "the token is \(token ?? "lost")")
                names.remove("file.lock")
            case .cookies:
                let saved = CookieJar(file: file, onError: { fail("\($0)") }).cookies.map(\.name)
                let isSaved = isDone && reports.withLock { $0 == 0 }
                expect(saved == ["new", "old"] || !isSaved && saved == ["old"], "\(saved) are saved")
                names = names.filter { !$0.hasSuffix(".lock") }
            }
            names.remove("file")
            expect(names.isEmpty, "files are left, done: \(isDone): \(names.sorted())")
        }
    }
#endif
