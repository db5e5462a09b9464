// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import RawCurl
    import TestKit

    /// Small GETs, so many at a time: the transport alone and the whole line, beside a loop in C over libcurl.
    struct TransportSpeed {
        static let name = "small GETs through the transport"
        let width: Int
        var connection = Connection.plain
        /// Whether there may be as many connections as requests. The default is 64.
        var isUnlimited = false
        let transport: Limit
        let line: Limit

        enum Connection: String {
            /// Over TLS, `tls` negotiates the version, as by default, and `http1` allows no other one.
            case plain, tls, http1, http2
        }

        static let all = [
            TransportSpeed(width: 1, transport: .speed(0.7), line: .speed(0.42)),
            TransportSpeed(width: 4, transport: .speed(0.7), line: .speed(0.42)),
            TransportSpeed(width: 16, transport: .speed(0.9), line: .speed(0.55)),
            TransportSpeed(width: 64, transport: .speed(1.0), line: .speed(0.55)),
            TransportSpeed(width: 256, transport: .speed(1.2), line: .speed(0.75)),
            TransportSpeed(width: 256, isUnlimited: true, transport: .speed(1.2), line: .speed(0.75)),
            TransportSpeed(width: 1, connection: .tls, transport: .speed(0.55), line: .speed(0.38)),
            TransportSpeed(width: 16, connection: .tls, transport: .speed(0.58), line: .speed(0.4)),
            TransportSpeed(width: 64, connection: .tls, transport: .speed(0.7), line: .speed(0.42)),
            TransportSpeed(width: 256, connection: .tls, transport: .speed(0.6), line: .speed(0.4)),
            TransportSpeed(width: 1, connection: .http1, transport: .speed(0.55), line: .speed(0.38)),
            TransportSpeed(width: 16, connection: .http1, transport: .speed(0.75), line: .speed(0.5)),
            TransportSpeed(width: 64, connection: .http1, transport: .speed(1.0), line: .speed(0.7)),
            TransportSpeed(width: 256, connection: .http1, transport: .speed(1.1), line: .speed(0.8)),
            TransportSpeed(width: 64, connection: .http2, transport: .speed(0.6), line: .speed(0.4)),
            TransportSpeed(width: 256, connection: .http2, transport: .speed(0.6), line: .speed(0.4)),
        ]
        private static let rounds = 15
        private static let processor = Limit.processor(2.7)
        /// The limit for a template with plain data as its response, through the default chain, beside the transport
        /// alone.
        private static let data = Limit.speed(0.7)
        /// The limit for the whole line, beside the transport and a bare decoder.
        private static let decoded = Limit.processor(2)

        /// Measures and prints all of them, and returns whether the limits are kept.
        static func report() async throws -> Bool {
            let server = try await GetServer()
            defer { server.stop() }
            print("\n\(name), from \(server.name); the floor is a loop in C over libcurl's multi interface")
            let words = Array(CommandLine.arguments.dropFirst(2))
            if words.count >= 2, let width = Int(words[0]) {
                let connection = words.lazy.compactMap(Connection.init).first ?? .plain
                let speed = TransportSpeed(
                    width: width, connection: connection, isUnlimited: words.contains("unlimited"),
                    transport: processor, line: processor)
                try await speed.runAlone(words[1], server, count: words.dropFirst(2).lazy.compactMap(Int.init).first)
                return true
            }
            var isKept = true
            for speed in all where try await !speed.report(server) { isKept = false }
            for delay in [0, 100, 500, 2000] {
                for width in [1, 16] { try await compare(width: width, microseconds: delay) }
            }
            return isKept
        }

        /// Runs one of the contenders by itself, for a profiler: `benchmarks small 16 load`, or over TLS and with a
        /// number of requests: `benchmarks small 16 load tls 10000`.
        private func runAlone(_ name: String, _ server: GetServer, count: Int?) async throws {
            let index = ["raw": 0, "load": 1, "line": 2, "data": 3, "decode": 4, "peer": 5][name] ?? 1
            let (start, count) = (ContinuousClock.now, count ?? 100_000)
            guard let all = try contenders(server), index < all.count else {
                return print("  \(name) is measured only with nginx, and peer only with LETTERHEAD_PEERS=1")
            }
            try await all[index](count)
            print(
                "  \(name), \(width) at a time: \(text(Double(count) / ((ContinuousClock.now - start) / .seconds(1))))")
        }

        /// Nil when the server does not speak TLS.
        private func contenders(_ server: GetServer) throws -> [@Sendable (Int) async throws -> Void]? {
            let urls: [Connection: URL?] = [
                .plain: server.url, .tls: server.secureURL, .http1: server.secureURL, .http2: server.secondURL,
            ]
            guard let url = urls[connection] ?? nil else { return nil }
            let roots = connection == .plain ? nil : server.roots
            let loop = try RawGets(url, width: width, roots: roots, overHTTP2: connection == .http2)
            var configuration = TransportConfiguration()
            if let roots { configuration.security.roots = .file(roots) }
            if connection == .http1 { configuration.httpVersions = .http1 }
            if isUnlimited {
                (configuration.maximumConnectionsPerHost, configuration.maximumConnections) = (width, width)
            }
            let loader = HTTPClient.makeTransport(configuration)
            let client = HTTPClient(transport: loader)
            var all: [@Sendable (Int) async throws -> Void] = [
                { try loop.run($0) },
                { try await Self.spread($0, over: width) { try await Self.load(url, loader) } },
                { try await Self.spread($0, over: width) { try await Self.send(url, client) } },
                { try await Self.spread($0, over: width) { try await Self.sendData(url, client) } },
                { try await Self.spread($0, over: width) { try await Self.loadAndDecode(url, loader) } },
            ]
            #if PEERS
                let peer = try PeerClient(width: isUnlimited ? width : min(width, 64), roots: roots)
                all.append { try await Self.spread($0, over: width) { try await Self.send(url, peer) } }
            #endif
            return all
        }

        private func report(_ server: GetServer) async throws -> Bool {
            guard let contenders = try contenders(server) else { return true }
            let rounds = try await Round.measure(contenders, rounds: Self.rounds)
            print(
                "  \(width) at a time, \(connection)\(isUnlimited ? ", each on a connection of its own" : "")")
            print("    C loop     \(rounds[0])")
            print("    load       \(rounds[1])")
            print("    whole line \(rounds[2])")
            print("    send, Data \(rounds[3])")
            print("    load and a bare JSONDecoder \(rounds[4])")
            if rounds.count > 5 {
                let ratio = text(rounds[5].processor / rounds[2].processor)
                print("    AsyncHTTPClient and a JSONDecoder \(rounds[5])")
                print(
                    "    whole line: \(text(rounds[5].time / rounds[2].time)) of its speed, its processor time is \(ratio)"
                )
            }
            let verdicts = [
                ("load", transport.verdict(on: rounds[1], beside: rounds[0])),
                ("load", Self.processor.verdict(on: rounds[1], beside: rounds[0])),
                ("whole line", line.verdict(on: rounds[2], beside: rounds[0])),
                ("send, Data", besideLoad(rounds)),
                ("whole line", beside("load and a bare JSONDecoder", Self.decoded, rounds[2], rounds[4])),
            ]
            for (name, verdict) in verdicts {
                print("    \(name): \(verdict.text): \(verdict.isKept ? "kept" : "NOT KEPT")")
            }
            return verdicts.allSatisfy(\.1.isKept)
        }

        /// Up to 64 at a time, compares the transport alone with a template that has plain data as its response.
        private func besideLoad(_ rounds: [Round]) -> (text: String, isKept: Bool) {
            let (text, isKept) = beside("load", Self.data, rounds[3], rounds[1])
            return (text, isKept || width > 64)
        }

        private func beside(
            _ name: String, _ limit: Limit, _ measured: Round, _ floor: Round
        ) -> (text: String, isKept: Bool) {
            let (text, isKept) = limit.verdict(on: measured, beside: floor)
            return (text.replacingOccurrences(of: "the floor", with: name), isKept)
        }

        /// Prints what a request costs over a server that waits before it responds, without a limit.
        private static func compare(width: Int, microseconds: Int) async throws {
            let server = GetServer.delaying(microseconds: microseconds)
            defer { server.stop() }
            let (url, loader) = (server.url("/item"), HTTPClient.makeTransport(TransportConfiguration()))
            let loop = try RawGets(url, width: width, roots: nil)
            let rounds = try await Round.measure(
                [
                    { try loop.run($0) },
                    { try await Self.spread($0, over: width) { try await Self.load(url, loader) } },
                ], rounds: Self.rounds)
            let ratio = rounds[0].time / rounds[1].time
            print(
                "  \(width) at a time, with a server that waits \(microseconds) us: load \(text(ratio)) of the C loop")
            print("    C loop     \(rounds[0])")
            print("    load       \(rounds[1])")
        }

        /// So many operations, in so many tasks.
        private static func spread(
            _ count: Int, over width: Int, _ once: @escaping @Sendable () async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<width {
                    group.addTask {
                        for _ in 0..<((count + number) / width) { try await once() }
                    }
                }
                try await group.waitForAll()
            }
        }

        private static func load(_ url: URL, _ loader: any HTTPLoader) async throws {
            let response = try await loader.load(HTTPRequest(url: url))
            guard response.status == .ok, response.body.length == GetServer.json.utf8.count else { throw WrongAnswer() }
        }

        private static func loadAndDecode(_ url: URL, _ loader: any HTTPLoader) async throws {
            let response = try await loader.load(HTTPRequest(url: url))
            guard response.status == .ok, let data = response.body.buffered else { throw WrongAnswer() }
            let item = try JSONDecoder().decode(GetItem.Response.self, from: data)
            guard item.tags.count == 3 else { throw WrongAnswer() }
        }

        private static func send(_ url: URL, _ client: HTTPClient) async throws {
            guard try await client.send(GetItem(baseURL: url)).tags.count == 3 else { throw WrongAnswer() }
        }

        #if PEERS
            private static func send(_ url: URL, _ peer: PeerClient) async throws {
                let item = try JSONDecoder().decode(GetItem.Response.self, from: try await peer.get(url))
                guard item.tags.count == 3 else { throw WrongAnswer() }
            }
        #endif

        private static func sendData(_ url: URL, _ client: HTTPClient) async throws {
            let data = try await client.send(GetData(baseURL: url))
            guard data.count == GetServer.json.utf8.count else { throw WrongAnswer() }
        }
    }

    struct WrongAnswer: Error {}

    private struct GetItem: RequestTemplate {
        struct Response: Decodable, Sendable {
            let id: Int
            let name: String
            let tags: [String]
            let note: String
        }

        let baseURL: URL?
        var path: RequestPath { "" }
    }

    private struct GetData: RequestTemplate {
        typealias Response = Data

        let baseURL: URL?
        var path: RequestPath { "" }
    }

    /// The floor.
    private final class RawGets: @unchecked Sendable {  // run by one task at a time
        private let loop: OpaquePointer

        init(_ url: URL, width: Int, roots: URL?, overHTTP2: Bool = false) throws {
            let made = raw_loop_make(url.absoluteString, CInt(width), roots?.path, overHTTP2 ? 1 : 0)
            guard let loop = made else { throw WrongAnswer() }
            self.loop = loop
        }

        deinit { raw_loop_free(loop) }

        func run(_ count: Int) throws {
            guard raw_loop_run(loop, count) == count else { throw WrongAnswer() }
        }
    }
#endif
