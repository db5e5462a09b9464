// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    @Suite(.timeLimit(.minutes(1))) struct FoundationProgressTests {
        @Test(arguments: [HTTPRequest.Progress.Direction.upload, .download])
        func `Foundation's progress counts the bytes of one direction`(direction: HTTPRequest.Progress.Direction)
            async throws
        {
            let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 200_000)) }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
            let (progress, steps) = (Progress(totalUnitCount: -1), Journal())
            let upload = Post<Data>("a", body: DataBody(Data(count: 100_000)))
            _ = try await client.send(
                upload.onProgress { _ in steps.write("earlier") }.onProgress(progress, of: direction))
            let count: Int64 = direction == .upload ? 100_000 : 200_000
            #expect(progress.totalUnitCount == count && progress.completedUnitCount == count && progress.isFinished)
            #expect(!steps.all.isEmpty)
            await server.stop()
        }

        @Test func `Foundation's progress is indeterminate without a length`() async throws {
            let chunks = AsyncStream<Data> {
                $0.yield(Data(count: 1_000))
                $0.finish()
            }
            let server = try await MockServer.start { _ in MockServer.Response(chunks: chunks) }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
            let progress = Progress(totalUnitCount: 7)
            _ = try await client.send(Get<Data>("a").onProgress(progress))
            #expect(progress.isIndeterminate && progress.completedUnitCount == 1_000)
            await server.stop()
        }
    }
#endif
