// SPDX-License-Identifier: MIT
import CloudStorage

/// Shares a token among all requests, until shortly before its end or until the service refuses it.
actor TokenCache {
    private let source: any TokenSource
    private var current: AccessToken?
    private var refresh: Task<AccessToken, any Error>?

    init(_ source: any TokenSource) { self.source = source }

    func token() async throws -> AccessToken {
        if let current, !current.isOld { return current }
        let task = refresh ?? Task { [source] in try await source.token() }
        refresh = task
        let result = await task.result
        if refresh == task {
            refresh = nil
            current = try? result.get()
        }
        try Task.checkCancellation()
        do { return try result.get() } catch {
            throw StorageError(.cannotSignIn, message: "\(error)")
        }
    }

    /// Removes a token, unless it has been replaced in the meantime.
    func refuse(_ token: AccessToken) {
        if current?.value == token.value { current = nil }
    }
}
