// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadObserving
    import LetterheadRecording
    import LetterheadTesting
    import Synchronization

    /// A rule that a case has broken.
    struct Fault: Sendable, CustomStringConvertible {
        /// The name of the rule.
        let rule: String
        let detail: String

        var description: String { "\(rule): \(detail)" }
    }

    /// Everything that is known after a case: what the server saw, what the caller got, what observers received.
    struct Evidence: Sendable {
        let testCase: Case
        let seen: [Seen]
        let outcomes: [Outcome]
        /// The outcome of the request that was sent afterwards.
        let plain: Outcome
        /// What the jar contained at the end of the first call.
        let cookies: [String]
        let events: [HTTPEvent]
        let archive: Data?
        /// What a flight recorder has kept, or the error of its file.
        let flight: Result<Data, any Error>
        let flights: [Int: Result<Data, any Error>]
        let statistics: HTTPStatistics
        let progress: [[HTTPRequest.Progress]]
        let uploads: Uploads
        /// What the calls have uploaded.
        let contents: [Data]
        let running: Int
        /// The files that are left.
        let files: [String]
        let leaks: [String]
        let urls: [Site: String]
    }

    extension Evidence: CustomStringConvertible {
        var description: String {
            let requests = seen.map { seen in
                "\(seen.site) connection \(seen.connection): \(seen.method) \(seen.target) \(seen.step.map { "\($0)" } ?? "") "
                    + "\(seen.status ?? 0), body \(seen.body?.count ?? -1)"
            }
            return (requests + events.map { "\($0)" } + outcomes.map { "outcome: \($0)" } + ["afterwards: \(plain)"])
                .joined(separator: "\n")
        }
    }

    enum Run {
        private static let number = Atomic(0)

        /// Runs a case, and returns the rules that it has broken. With `shows`, prints what happened.
        static func faults(
            of testCase: Case, within limit: Duration = .seconds(5), shows: Bool = false
        ) async -> [Fault] {
            let phase = Mutexed("the call")
            let scene = Scene(testCase)
            defer { scene.stop() }
            let task = Task { try await evidence(of: testCase, scene, phase) }
            let (results, continuation) = AsyncStream.makeStream(of: Result<Evidence, any Error>?.self)
            let alarm = Task {
                try await Task.sleep(for: limit)
                continuation.yield(nil)
            }
            Task { continuation.yield(await task.result) }
            defer { alarm.cancel() }
            for await result in results {
                switch result {
                case .success(let evidence):
                    if shows { print(evidence) }
                    return Invariants(evidence).faults
                case .failure(let error): return [Fault(rule: "machine", detail: "\(error)")]
                case nil:
                    task.cancel()
                    return [Fault(rule: "hang", detail: "in \(phase.value.withLock { $0 })")]
                }
            }
            return []
        }

        private static func evidence(
            of testCase: Case, _ scene: Scene, _ phase: Mutexed<String>
        ) async throws -> Evidence {
            let number = number.wrappingAdd(1, ordering: .relaxed).oldValue
            let folder = FileManager.default.temporaryDirectory.appending(path: "joints-\(getpid())-\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (parts, result) = (Parts(), Mutexed<(outcomes: [Outcome], plain: Outcome, cookies: [String])?>(nil))
            var leaks: [String] = []
            do {
                try await withLeakCheck(grace: .milliseconds(1_500)) {
                    let setup = try Setup(testCase, scene, parts, in: folder)
                    let calls = (testCase[.concurrency] == "one" ? 1...1 : 1...2).map { Call(number: $0, setup: setup) }
                    if testCase[.plan] == "stale" { _ = await plain(setup) }
                    var (outcomes, cookies) = await first(
                        testCase[.concurrency] == "both" ? calls : [calls[0]], of: setup)
                    phase.value.withLock { $0 = "the second call" }
                    if testCase[.concurrency] == "again" {
                        // A signature is too old then, and a response in a cache isn't.
                        scene.pass(400)
                        outcomes.append(await calls[1].outcome())
                    }
                    phase.value.withLock { $0 = "the plain request afterwards" }
                    let ended = (outcomes: outcomes, plain: await plain(setup), cookies: cookies)
                    phase.value.withLock { $0 = "the release of resources" }
                    result.value.withLock { $0 = ended }
                }
            } catch let error as ResourceLeaks {
                leaks = error.resources
            }
            guard let ended = result.value.withLock({ $0 }) else { throw CancellationError() }
            await settle(parts.recorder)
            let files = FileManager.default.subpaths(atPath: folder.path) ?? []
            // An error that the recorder doesn't know: the file contains everything that it keeps.
            let flight = Result {
                try Data(
                    contentsOf: parts.flight.dump(around: CancellationError(), to: folder.appending(path: "flight")))
            }
            return Evidence(
                testCase: testCase, seen: scene.seen, outcomes: ended.outcomes, plain: ended.plain,
                cookies: ended.cookies,
                events: parts.recorder.events, archive: try? parts.archive.archive(), flight: flight,
                flights: parts.flights.value.withLock { $0 },
                statistics: parts.statistics.statistics,
                progress: parts.progress.map { $0.value.withLock { $0 } }, uploads: scene.uploads,
                contents: parts.contents.value.withLock { $0 }, running: parts.running,
                files: files.sorted(),
                leaks: leaks, urls: Dictionary(uniqueKeysWithValues: Site.allCases.map { ($0, scene.origin($0)) }))
        }

        /// Makes the calls, and ends them as the case says.
        private static func first(_ calls: [Call], of setup: Setup) async -> ([Outcome], [String]) {
            let scene = setup.scene
            let tasks = calls.map { call in
                Task {
                    defer { scene.letGo() }
                    return await call.outcome()
                }
            }
            switch setup.testCase[.ending] {
            case "cancel", "cancel-body":
                for await _ in scene.arrivals { break }
                for task in tasks { task.cancel() }
            case "reset", "reset-body", "reset-late":
                for await _ in scene.arrivals { break }
                await setup.reset()
            default: break
            }
            var outcomes: [Outcome] = []
            for task in tasks { outcomes.append(await task.value) }
            let cookies = setup.jar?.cookies.map(\.name) ?? []
            scene.letGo()
            return (outcomes, cookies)
        }

        /// A request without anything special must pass at once after each call.
        private static func plain(_ setup: Setup) async -> Outcome {
            let testCase = setup.testCase
            let isAbsolute = testCase[.environment] == "absolute"
            let base = isAbsolute ? URL(string: setup.scene.url(.api, "/api/")) : nil
            var template = AnyTemplate(
                ItemTemplate(method: .get, path: "plain", baseURL: base, body: EmptyBody()))
            if testCase[.environment] == "template" || testCase[.environment] == "derived" && testCase.isOverChain {
                template = AnyTemplate(template.environment(Setup.environment(setup.scene)))
            }
            do {
                let response =
                    if testCase.isOverChain { try await SendableRequest(template, over: setup.chain).response() } else {
                        try await setup.client.send(template)
                    }
                return .value(.bytes(try await response.body.data()), status: response.status.code)
            } catch {
                return Outcome(error)
            }
        }

        /// Waits until what is reported by other tasks has arrived.
        private static func settle(_ recorder: EventRecorder) async {
            for _ in 0..<100 {
                let names = recorder.names
                let starts = names.count { $0 == .exchangeStart || $0 == .loadStart }
                let ends = names.count { name in
                    [.exchangeEnd, .exchangeFailed, .loadEnd, .loadFailed, .loadCancelled].contains(name)
                }
                if ends >= starts { return }
                try? await Task.sleep(for: .milliseconds(3))
            }
        }
    }
#endif
