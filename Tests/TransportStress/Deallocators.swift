// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

/// Frees values with a deallocator that cancels the load that they belong to, as the deallocator of a `Data` may: a
/// lock that is held meanwhile would be locked a second time, which ends the process.
struct Deallocators {
    let count: Int

    func run() async throws {
        for number in 0..<count {
            try await cancelTask(whileSharing: number % 2 == 0)
        }
        print("ok: \(count) rounds")
    }

    /// The body of a shared request is made for comparing it, and freed when its load has ended.
    private func cancelTask(whileSharing isShared: Bool) async throws {
        let current = Mutex<Task<Void, any Error>?>(nil)
        let body = ComparedBody { current.withLock { $0 }?.cancel() }
        let isOpen = Atomic<Bool>(false)
        let loader = AnyLoader { request in
            while !isOpen.load(ordering: .acquiring) { await Task.yield() }
            return HTTPResponse(request: request, status: .ok)
        }
        let chain = Deduplicate() --> loader
        var request = request()
        if isShared { request.body = body }
        let task = Task { [request] in _ = try await chain.load(request) }
        current.withLock { $0 = task }
        isOpen.store(true, ordering: .releasing)
        _ = await task.result
    }

    /// A body that tells when its bytes are freed.
    private struct ComparedBody: HTTPBody {
        let onFree: @Sendable () -> Void

        func encode() throws -> Data {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
            bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
            return Data(
                bytesNoCopy: bytes, count: 64,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    onFree()
                })
        }
    }

    private func request() -> HTTPRequest {
        var request = HTTPRequest()
        request.host = "example.test"
        return request
    }
}
