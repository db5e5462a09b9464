// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadRelay
    import LetterheadTesting
    import TestKit
    import Synchronization
    import Testing

    /// The far end is another process, and only messages over two pipes connect it with the near end.
    @Suite(.timeLimit(.minutes(3))) struct RelayProcessTests {
        /// A process with the far end, and the pipes to it. A class, because it owns the descriptors.
        private final class Far: Sendable {
            private struct State {
                var last = 0
                var answers: [Int: AsyncStream<Data>.Continuation] = [:]
            }

            private let process: ChildProcess
            private let messages: MessagePipe
            private let descriptors: [CInt]
            private let state = Mutex(State())

            init() throws {
                var (requests, answers): ([CInt], [CInt]) = ([0, 0], [0, 0])
                #expect(pipe(&requests) == 0 && pipe(&answers) == 0)
                process = try ChildProcess(
                    ChildProcess.path(ofPackage: "transport-stress"), ["relay"], printsErrors: false,
                    pipes: (input: requests[0], output: answers[1]))
                close(requests[0])
                close(answers[1])
                descriptors = [requests[1], answers[0]]
                messages = MessagePipe(input: answers[0], output: requests[1])
                messages.read { [weak self] number, data in
                    guard let continuation = self?.state.withLock({ $0.answers[number] }) else { return }
                    if let data { continuation.yield(data) } else { continuation.finish() }
                } atEnd: { [weak self] in
                    let open = self?.state.withLock { Array($0.answers.values) } ?? []
                    for continuation in open { continuation.finish() }
                }
            }

            /// Closes the pipe of the requests, which ends the process and with it the thread that reads the answers.
            func stop(expecting status: Int32 = 0) async {
                close(descriptors[0])
                #expect(await process.end(within: 20) == status)
                close(descriptors[1])
            }

            func kill() { process.kill() }

            var relay: Relay { .streaming { [self] data in answers(to: data) } }

            private func answers(to data: Data) -> AsyncStream<Data> {
                let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
                let number = state.withLock { state in
                    state.last += 1
                    state.answers[state.last] = continuation
                    return state.last
                }
                messages.write(number, data)
                return stream
            }
        }

        @Test func `requests, errors and events pass between two processes`() async throws {
            let (far, log) = (try Far(), EventRecorder())
            let server = try await MockServer.start { request in
                MockServer.Response(headers: ["X-A": "1"], body: request.body)
            }
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), observers: [log], transport: far.relay)
            let bodies = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let sent = Post<HTTPResponse>("a", body: TextBody("\(number)"))
                        return try await client.send(sent).body.data() == Data("\(number)".utf8)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies == Array(repeating: true, count: 20) && server.requests.count == 20)
            #expect(log.names.filter { $0 == "exchange.start" }.count == 20)
            let error = await failure { try await client.send(HTTPRequest("http://127.0.0.1:1/")) }
            #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
            await server.stop()
            await far.stop()
        }

        @Test func `the end of the other process ends its requests`() async throws {
            let begun = SharedValue(false)
            let far = try Far()
            let server = try await MockServer.start { _ in
                begun.withLock { $0 = true }
                try await Task.sleep(for: .seconds(600))
                return MockServer.Response()
            }
            let request = HTTPRequest(url: server.url)
            let task = Task { try await far.relay.load(request) }
            await until { begun.withLock { $0 } }
            far.kill()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .connectionLost)
            await server.stop()
            await far.stop(expecting: 128 + SIGKILL)
        }
    }
#endif
