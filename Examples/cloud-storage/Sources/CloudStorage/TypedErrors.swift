// SPDX-License-Identifier: MIT
import Letterhead

/// A sequence that throws the SDK's errors.
public struct Typed<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable {
    let base: Base

    /// Iterates over the base's elements.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator

        /// Returns the base's next element.
        public mutating func next() async throws -> Base.Element? {
            do { return try await base.next() } catch { throw storageError(error) }
        }
    }

    /// Starts at the beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }
}

/// Runs work, and throws the SDK's errors.
@discardableResult
func typed<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch { throw storageError(error) }
}

private func storageError(_ error: any Error) -> any Error {
    guard let error = error as? HTTPError else {
        return error is StorageError || error is CancellationError
            ? error : StorageError(.local, message: "\(error)")
    }
    if let inner = error.underlying as? StorageError { return inner }
    let code: StorageError.Code =
        switch error.code {
        case .cannotAuthenticate: .cannotSignIn
        case .timedOut: .timedOut
        case .cannotConnect, .connectionLost, .insecureConnection: .unreachable
        case .invalidRequest, .cannotSaveResponse, .partInUse: .local
        case .unacceptableStatus, .retriesExhausted: .refused
        default: .malformed
        }
    let failure = error.failure(as: StorageFailure.self)?.error
    return StorageError(
        code, status: error.response?.status.code, reason: failure?.errors?.first?.reason,
        message: failure?.message ?? error.description)
}
