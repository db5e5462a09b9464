// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// Runs one of the transport's stress tests and reports the result: a test's process must outlive what it tests.
///
/// `transport-stress posts 5000` exits with 0 and a line of figures, or with 1 and what was wrong.
@main
enum TransportStress {
    static func main() async throws {
        #if os(Linux) && DEBUG
            alarm(300)  // The process that started it may be gone before it ends.
            let arguments = CommandLine.arguments.dropFirst()
            let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1000
            switch arguments.first {
            case "posts": try await StalePosts(count: count).run()
            case "cancellations": try await CancelRaces(count: count).run()
            case "many": try await ManyAtOnce(count: count).run()
            case "exit": try await Ends(count: count).exitInFlight()
            case "leave": try await Ends(count: count).exitWhileLeaving()
            case "fork": try await Ends(count: count).fork()
            case "exhaust": try await Ends(count: count).exhaust()
            case "drops": try await Ends(count: count).dropLoaders()
            case "memory": try await Ends(count: count).keepMemory()
            case "transfers": try await Transfers(size: count).keepMemory()
            case "download": try await Transfers(size: count).download()
            case "proxy": try await EnvironmentProxy(count: count).run()
            case "addresses":
                await EnvironmentAddresses(variable: arguments.last ?? "").run()
            case "folds": try await HostileHeads(count: count).folds()
            case "claims": try await HostileHeads(count: count).claims()
            case "fuzz":
                try await Fuzz(count: count, firstSeed: seed(arguments), isSecure: arguments.contains("tls")).run()
            case "differ":
                let only = arguments.dropFirst(3).first.flatMap { Int($0) }
                try await Differ(count: count, firstSeed: seed(arguments), only: only).run()
            case "gets": try await Gets(port: count, count: arguments.count == 3 ? 1 : 2).run()
            case "upload": try await Uploads.send(toPort: count, file: arguments[3], folder: arguments[4])
            case "upload-memory": try await Uploads.keepMemory(count)
            case "rest": try await Transfers(size: count).rest()
            case "initialize": try await Setups(count: count).initializeOnce()
            case "failed-initialization": try await Setups(count: count).failToInitialize()
            case "other-tls": try await Setups(count: count).tellUnauthenticatedEnds()
            case "memory-limit": try await MemoryLimits(count: count).run()
            case "executor": try await CustomExecutor(count: count).run()
            case "deallocators": try await Deallocators(count: count).run()
            case "relay": await RelayProcess().run()
            case "shared-folders": try await SharedFolders().run()
            case "roots": await Roots(port: count, folder: arguments.last ?? "").run()
            case "lifetimes": try await Lifetimes().run()
            case "mirror": try await Mirror(count: count).run()
            case "cache-use": try await cacheFolder(count, Array(arguments.dropFirst(2))).run()
            case "cache-check": try await cacheFolder(count, Array(arguments.dropFirst(2))).check()
            case "cache-fill": try await cacheFolder(count, Array(arguments.dropFirst(2))).fill()
            case "torture": try await Torture.run(Array(arguments.dropFirst()))
            case "tortured": try await Tortured(Array(arguments.dropFirst())).run()
            default:
                fail(
                    "posts, cancellations, many, exit, leave, fork, exhaust, drops, memory, transfers, download, proxy, "
                        + "addresses, "
                        + "upload, upload-memory, gets, rest, folds, claims, fuzz, differ, initialize, failed-initialization, other-tls, memory-limit, "
                        + "executor, deallocators, relay, shared-folders, roots, lifetimes, mirror, cache-use, "
                        + "cache-check or cache-fill, and how many, or torture and its library")
            }
        #else
            fail("it reads internals, so it needs Linux and a debug build")
        #endif
    }

    #if os(Linux) && DEBUG
        /// `cache-use COUNT FOLDER`
        private static func cacheFolder(_ count: Int, _ arguments: [String]) -> CacheFolder {
            CacheFolder(count: count, folder: URL(filePath: arguments.first ?? "/nonexistent"))
        }

        /// `fuzz COUNT [SEED] [tls]`, `differ COUNT [SEED [ID]]`
        private static func seed(_ arguments: ArraySlice<String>) -> UInt64 {
            arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1
        }
    #endif
}

func fail(_ message: String) -> Never {
    print("failed: \(message)")
    exit(1)
}

func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
}
