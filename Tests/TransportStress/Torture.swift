// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit

    /// Lets the n-th call of a family fail, for each n, as curl's torture tests do (`.ci/torture.c`). Each run is a process,
    /// because it may crash or hang. The servers are in this process.
    struct Torture {
        enum Scenario: String, CaseIterable { case get, post, compressed, download, resume, upload, tokens, cookies }

        /// In the order of `.ci/torture.c`.
        enum Family: CInt, CaseIterable {
            case memory = 1
            case descriptor, connect, send, receive, open, write, read, sync, rename

            /// What the system may report: once, or from then on for a negative number. 0: it transfers one byte.
            var errors: [CInt] {
                switch self {
                case .memory: [ENOMEM, -ENOMEM]
                case .descriptor, .open: [EMFILE, -EMFILE]
                case .connect: [ECONNREFUSED, ENETUNREACH, EINTR]
                case .send: [ECONNRESET, EPIPE, EINTR, EAGAIN, 0]
                case .receive: [ECONNRESET, EINTR, EAGAIN, 0]
                case .write: [ENOSPC, -ENOSPC, EIO, EINTR, 0]
                case .read: [EIO, EINTR, 0]
                case .sync: [EIO]
                case .rename: [EXDEV, EACCES]
                }
            }
        }

        private struct Row {
            let (scenario, family, carrier, error): (Scenario, Family, String, CInt)
            var calls = 0
            var outcomes: [String: Int] = [:]
            var faults: [String] = []

            var description: String {
                let code = error == 0 ? "one byte" : String(cString: strerror(abs(error)))
                let outcomes = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                return "\(scenario) \(carrier) \(family): \(code)\(error < 0 ? " from then on" : ""): \(calls) calls, "
                    + (outcomes + ["\(faults.count) faults"] + faults.map { "\n    \($0)" }).joined(separator: ", ")
            }
        }

        /// - Parameter arguments: the library, and the scenarios, or none for all.
        static func run(_ arguments: [String]) async throws {
            alarm(3600)
            let scenarios = arguments.dropFirst().compactMap { Scenario(rawValue: $0) }
            let server = RawServer { connection, _ in serve(connection) }
            var rows: [Row] = []
            for scenario in scenarios.isEmpty ? Scenario.allCases : scenarios {
                for (family, carrier) in Family.allCases.flatMap({ [($0, "direct"), ($0, "libcurl")] }) {
                    let isLost = scenario == .compressed && family == .send && carrier == "libcurl"
                    for error in family.errors
                    where ![EINTR, EAGAIN, 0].contains(error) || !isLost || !CurlQuirks.losesFraming {
                        rows.append(Row(scenario: scenario, family: family, carrier: carrier, error: error))
                    }
                }
            }
            var faults = 0
            try await withThrowingTaskGroup(of: Row.self) { group in
                for index in 0..<(rows.count + 4) {
                    if index >= 4, let row = try await group.next() {
                        faults += row.faults.count
                        if row.calls > 0 || !row.faults.isEmpty { print(row.description) }
                        fflush(nil)
                    }
                    guard index < rows.count else { continue }
                    group.addTask { [row = rows[index]] in try await filled(row, arguments[0], server) }
                }
            }
            expect(faults == 0, "\(faults) faults")
            print("ok: \(rows.count) rows")
        }

        /// The number of calls may differ from run to run, because threads take turns.
        private static func filled(_ row: Row, _ library: String, _ server: RawServer) async throws -> Row {
            var row = row
            for number in 1...10_000 where row.faults.count < 5 {
                let uploads = UploadServer(.tus)
                uploads.enqueue("PATCH", .cut(after: 30_000))
                let url = row.scenario == .upload ? uploads.url : server.url("")
                let numbers = [Int(row.family.rawValue), number, Int(row.error)].map { "\($0)" }
                let arguments = ["tortured", row.scenario.rawValue, row.carrier] + numbers + [url.absoluteString]
                let (status, output) = try await ChildProcess.run(
                    ofPackage: "transport-stress", arguments, seconds: 10, environment: ["LD_PRELOAD": library])
                let isWhole = row.scenario != .upload || uploads.complete == [Tortured.content]
                let words = output.split(separator: " ")
                guard status == 0, isWhole, let calls = Int(words[0]) else {
                    let fault = status == 137 ? "hangs" : status == 0 ? "another upload" : "status \(status)"
                    row.faults.append("call \(number): \(fault): \(output.prefix(3000))")
                    continue
                }
                if number > calls { break }
                row.calls += 1
                row.outcomes[words[1].trimmingCharacters(in: .newlines), default: 0] += 1
            }
            return row
        }

        private static func serve(_ connection: RawConnection) {
            while let (head, body) = connection.readRequest() {
                let path = head.split(separator: " ")[1]
                var (status, fields, content) = (200, "", Data())
                switch path {
                case "/content", "/part":
                    (content, fields) = (Tortured.content, "ETag: \"1\"\r\n")
                    if let start = head.firstMatch(of: /[Rr]ange: bytes=(\d+)-/).flatMap({ Int($0.1) }) {
                        (status, content) = (206, content[start...])
                        fields += "Content-Range: bytes \(start)-99999/100000\r\n"
                    }
                case "/compressed":
                    content = (try? Deflater(level: 1).deflated(Tortured.content, isLast: true)) ?? Data()
                    fields = "Content-Encoding: gzip\r\n"
                case "/echo":
                    (content, fields) = (body, head.contains("ent-Encoding: gzip") ? "Content-Encoding: gzip\r\n" : "")
                case "/cookies": fields = "Set-Cookie: new=\(Int.random(in: 0...(.max))); Max-Age=100000\r\n"
                case "/token":
                    let old = String(decoding: body, as: UTF8.self).firstMatch(of: /refresh_token=r(\d)/)?.1
                    let new = (old.flatMap { Int($0) } ?? 0) + 1
                    let tokens = #""access_token":"a\#(new)","refresh_token":"r\#(new)""#
                    content = Data(#"{\#(tokens),"token_type":"Bearer","expires_in":3600}"#.utf8)
                default: status = head.contains(/[Aa]uthorization: Bearer a[1-9]/) ? 200 : 401
                }
                connection.write("HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(content.count)\r\n\r\n")
                let isCut = path == "/part" && status == 200
                guard connection.write(Array(content.prefix(isCut ? 50_000 : .max))), !isCut else { break }
            }
            connection.close()
        }
    }
#endif
