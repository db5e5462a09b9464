// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import CloudStorage
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends calls with a token, and retries them.
struct Transport: Sendable {
    private static let retriable: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 529]
    private static let maximumRetries = 4
    private static let longestServerDelay = 120.0

    let http: HTTPClient
    let tokens: TokenCache
    let endpoint: String
    let userProject: String?
    let backOff: Duration

    func json<Value: Decodable>(_ call: Call) async throws -> Value {
        try await send(call) { response in
            guard let value: Value = try await decoded(response) else {
                throw StorageError(.malformed, message: "the response has no body")
            }
            return value
        }
    }

    /// Sends a call, and passes its accepted response to a closure. If the connection is lost while the closure reads
    /// the body, the call is sent again.
    @discardableResult
    func send<Value>(
        _ call: Call, accepting accepted: Set<Int> = [200, 201, 204],
        _ handle: (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        var (retries, isRefreshed) = (0, false)
        while true {
            let token = try await tokens.token()
            var request = try call.request(at: endpoint)
            request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token.value)")
            if let userProject { request.headers.replaceOrAdd(name: "X-Goog-User-Project", value: userProject) }
            let wait: Duration
            do {
                let response = try await http.execute(request, deadline: .distantFuture)
                let status = Int(response.status.code)
                if accepted.contains(status) { return try await handle(response) }
                let failure = await refusal(response)
                if status == 401, !isRefreshed {
                    isRefreshed = true
                    await tokens.refuse(token)
                    continue
                }
                let asked = Self.retryAfter(response.headers)
                guard Self.retriable.contains(status), call.isIdempotent, retries < Self.maximumRetries,
                    (asked ?? 0) <= Self.longestServerDelay
                else { throw failure }
                wait = asked.map { .seconds($0) } ?? self.wait(before: retries)
            } catch let error as StorageError {
                throw error
            } catch {
                if Task.isCancelled { throw CancellationError() }
                let isRepeatable = call.isIdempotent || Self.wasNotSent(error)
                guard isRepeatable, retries < Self.maximumRetries else { throw Self.storageError(error) }
                wait = self.wait(before: retries)
            }
            retries += 1
            try await Task.sleep(for: wait)
        }
    }

    /// Exponential back-off with full jitter.
    func wait(before retry: Int) -> Duration {
        min(backOff * pow(2, Double(retry)), .seconds(30)) * Double.random(in: 0...1)
    }

    private func refusal(_ response: HTTPClientResponse) async -> StorageError {
        let body = try? await response.body.collect(upTo: 1 << 20)
        let failure = body.flatMap { try? JSONDecoder().decode(StorageFailure.self, from: Data($0.readableBytesView)) }
        return StorageError(
            .refused, status: Int(response.status.code), reason: failure?.error.errors?.first?.reason,
            message: failure?.error.message ?? "the service responded with \(response.status)")
    }

    private static func retryAfter(_ headers: HTTPHeaders) -> Double? {
        guard let value = headers.first(name: "Retry-After") else { return nil }
        if let seconds = UInt32(value) { return Double(seconds) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: value).map { max(0, $0.timeIntervalSinceNow) }
    }

    private static func wasNotSent(_ error: any Error) -> Bool {
        error is NIOConnectionError
            || [.connectTimeout, .getConnectionFromPoolTimeout].contains(error as? HTTPClientError)
    }

    static func storageError(_ error: any Error) -> any Error {
        if error is StorageError || error is CancellationError { return error }
        let timeouts: [HTTPClientError] = [.connectTimeout, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout]
        let isTimeout = (error as? HTTPClientError).map(timeouts.contains) ?? false
        return StorageError(isTimeout ? .timedOut : .unreachable, message: "\(error)")
    }
}
