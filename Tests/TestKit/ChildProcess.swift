// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    package import Foundation
    import Synchronization

    /// A program in a separate process group, for code that may crash or hang.
    ///
    /// Its output goes to a file, so that no test waits for the end of a pipe that another child has inherited. It is
    /// killed when its last reference is released, which is the reason for a class.
    package final class ChildProcess: Sendable {
        package struct Failure: Error, CustomStringConvertible {
            package let description: String

            package init(description: String) { self.description = description }
        }

        private let id: pid_t
        private let file: URL
        private let ended = Mutex<Int32?>(nil)

        /// Starts a program that is looked for where a shell does.
        ///
        /// - Parameters:
        ///   - printsErrors: whether what it writes to its standard error belongs to its output.
        ///   - environment: set in addition to this process's.
        ///   - pipes: its standard input and output, instead of nothing and the file.
        package init(
            _ program: String, _ arguments: [String], printsErrors: Bool = true, environment: [String: String] = [:],
            pipes: (input: CInt, output: CInt)? = nil
        ) throws {
            file = FileManager.default.temporaryDirectory.appending(path: "letterhead-output-\(UUID().uuidString)")
            let all = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
            do {
                id = try Self.spawn([program] + arguments, all.map { "\($0)=\($1)" }, file.path, printsErrors, pipes)
            } catch {
                try? FileManager.default.removeItem(at: file)
                throw error
            }
        }

        deinit {
            if status == nil {
                kill()
                waitpid(id, nil, 0)
            }
            try? FileManager.default.removeItem(at: file)
        }

        /// How it ended, and 128 and the number of the signal that killed it, or nil while it runs.
        package var status: Int32? {
            ended.withLock { ended in
                var status: Int32 = 0
                if ended == nil, waitpid(id, &status, WNOHANG) == id {
                    let signal = status & 0x7f
                    ended = signal == 0 ? (status >> 8) & 0xff : 128 + signal
                }
                return ended
            }
        }

        /// What it printed up to now.
        package var output: Data { (try? Data(contentsOf: file)) ?? Data() }

        /// Ends it, and what it started, at once.
        package func kill() { _ = Foundation.kill(-id, SIGKILL) }

        /// Waits until it has ended, which it does not announce to a task, and kills it after so many seconds, or when
        /// the task is cancelled.
        package func end(within seconds: Int) async -> Int32 {
            let limit = ContinuousClock.now + .seconds(seconds)
            while true {
                if let status { return status }
                if ContinuousClock.now >= limit { kill() }
                do { try await Task.sleep(for: .milliseconds(5)) } catch { kill() }
            }
        }

        /// Calls a closure until it returns true, or until the program has ended: a program does not tell when it listens.
        package func isReady(_ probe: () async throws -> Bool) async throws -> Bool {
            while status == nil {
                if try await probe() { return true }
                try await Task.sleep(for: .milliseconds(5))
            }
            return false
        }

        private static func spawn(
            _ arguments: [String], _ environment: [String], _ output: String, _ printsErrors: Bool,
            _ pipes: (input: CInt, output: CInt)?
        ) throws -> pid_t {
            #if canImport(Darwin)
                var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
            #else
                var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
            #endif
            posix_spawn_file_actions_init(&actions)
            posix_spawnattr_init(&attributes)
            defer {
                posix_spawn_file_actions_destroy(&actions)
                posix_spawnattr_destroy(&attributes)
            }
            if let pipes {
                posix_spawn_file_actions_adddup2(&actions, pipes.input, 0)
                posix_spawn_file_actions_adddup2(&actions, pipes.output, 1)
            } else {
                posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
                posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            }
            if printsErrors {
                posix_spawn_file_actions_adddup2(&actions, 1, 2)
            } else {
                posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
            }
            // A child that kept a socket of a test open would keep its peer from seeing the end.
            #if os(Linux)
                let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
                for descriptor in 3...((open.max() ?? 3) + 100) {
                    posix_spawn_file_actions_addclose(&actions, descriptor)
                }
                let closing: Int32 = 0
            #else
                let closing = POSIX_SPAWN_CLOEXEC_DEFAULT
            #endif
            // Threads that run tasks have signals blocked, and a test ignores SIGPIPE: a child must inherit neither.
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigaddset(&signals, SIGPIPE)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP | closing
            posix_spawnattr_setflags(&attributes, Int16(flags))
            let (texts, variables) = (arguments.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
            defer { for text in texts + variables { free(text) } }
            var id: pid_t = 0
            let code = posix_spawnp(&id, arguments[0], &actions, &attributes, texts, variables)
            guard code == 0 else { throw Failure(description: String(cString: strerror(code))) }
            return id
        }
    }

    // MARK: Doors

    extension ChildProcess {
        /// Runs a program to its end.
        package static func run(
            _ program: String, _ arguments: [String], seconds: Int = 60, printsErrors: Bool = true,
            environment: [String: String] = [:]
        ) async throws -> (status: Int32, output: Data) {
            let child = try ChildProcess(program, arguments, printsErrors: printsErrors, environment: environment)
            let status = await child.end(within: seconds)
            return (status, child.output)
        }

        /// Runs a program that is built beside the tests. Where it crashes is part of its output.
        package static func run(
            ofPackage name: String, _ arguments: [String], seconds: Int, environment: [String: String] = [:]
        ) async throws -> (status: Int32, output: String) {
            let (status, output) = try await run(
                path(ofPackage: name), arguments, seconds: seconds,
                environment: environment.merging(["SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"]) { old, _ in
                    old
                })
            return (status, String(decoding: output, as: UTF8.self))
        }

        /// The path of a program that is built beside the tests.
        package static func path(ofPackage name: String) throws -> String {
            guard let tests = CommandLine.arguments.first else { throw Failure(description: "no program is running") }
            return URL(filePath: tests).deletingLastPathComponent().appending(path: name).path
        }

        /// What a program of the system prints, which must end without an error.
        package static func output(of program: String, _ arguments: [String]) async throws -> Data {
            let (status, output) = try await run(program, arguments, printsErrors: false)
            guard status == 0 else {
                throw Failure(description: "\(program) \(status): \(String(decoding: output, as: UTF8.self))")
            }
            return output
        }
    }
#endif
