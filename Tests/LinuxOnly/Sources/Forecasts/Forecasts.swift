// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if os(Linux)
    import LetterheadURLSession

    public typealias URLSession = ClientSession
#endif

/// A library as many are: `URLSession` is in its initializer, and its floor on Apple platforms is older than that of
/// Letterhead. Only the six lines above are about Linux.
public final class Forecasts {
    public enum Failure: Error, Equatable {
        case status(Int)
    }

    private let base: URL
    private let session: URLSession

    public init(base: URL, session: URLSession = .shared) {
        self.base = base
        self.session = session
    }

    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    public func today(in city: String) async throws -> String {
        let (data, response) = try await session.data(for: request("today", city))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw Failure.status(status) }
        return String(decoding: data, as: UTF8.self)
    }

    /// For the systems before concurrency.
    public func today(in city: String, completion: @escaping @Sendable (Result<Data, Error>) -> Void) {
        session.dataTask(with: request("today", city)) { data, _, error in
            completion(data.map { .success($0) } ?? .failure(error ?? URLError(.unknown)))
        }.resume()
    }

    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
    public func warnings(in city: String) -> AsyncThrowingStream<String, Error> {
        let (session, request) = (session, request("warnings", city))
        return AsyncThrowingStream { continuation in
            let reader = Task {
                do {
                    let (bytes, _) = try await session.bytes(for: request)
                    for try await line in bytes.lines { continuation.yield(line) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in reader.cancel() }
        }
    }

    private func request(_ path: String, _ city: String) -> URLRequest {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.setValue(city, forHTTPHeaderField: "X-City")
        return request
    }
}
