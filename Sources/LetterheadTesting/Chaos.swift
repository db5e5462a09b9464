// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// Random numbers that are the same in each run with the same seed. Use them to test a client on an unreliable network.
///
/// Draw a number for each request, and use it to choose between faults and the usual response:
///
/// ```swift
/// let chaos = Chaos()
/// let unreliable = StubLoader(clock: clock).on(.any(), times: .any) { call in
///     switch chaos.draw(for: call.request) {
///     case ..<0.05: .error(.connectionLost)
///     case ..<0.10: .status(.serviceUnavailable)
///     case ..<0.30: .delayed(.seconds(2), .passThrough(to: stubs))
///     default: .passThrough(to: stubs)
///     }
/// }
/// ```
///
/// In the closure of a ``MockServer``, choose a fault that occurs on the socket:
///
/// ```swift
/// let server = try await MockServer.start { request in
///     let response = MockServer.Response.text("hello")
///     return chaos.draw(for: request) < 0.2 ? response.fault(.reset, at: .responseBody) : response
/// }
/// ```
///
/// A number depends on the seed, on the method, path and query of the request, and on how many numbers were drawn for
/// equal requests before. It doesn't depend on when other requests arrive. A second run with the same seed therefore
/// has the same faults, even if requests are concurrent.
///
/// If a test fails, print the ``description``, and pass its seed to reproduce the faults.
public final class Chaos: Sendable, CustomStringConvertible {
    // This type is a class because all references count the same requests.

    /// The number that determines all drawn numbers.
    public let seed: UInt64
    private let counts = Mutex<[String: UInt64]>([:])

    /// Creates a sequence of numbers.
    ///
    /// - Parameter seed: the number that determines all drawn numbers. Default: a random seed.
    public init(seed: UInt64 = .random(in: 0...0xFFFF_FFFF)) { self.seed = seed }

    /// The type and the seed, such as `Chaos(seed: 42)`.
    public var description: String { "Chaos(seed: \(seed))" }

    /// Returns the next number for a request, at least 0 and less than 1.
    public func draw(for request: HTTPRequest) -> Double { draw("\(request.method) \(request.target)") }

    /// Returns the next number for a request to a server, at least 0 and less than 1.
    public func draw(for request: MockServer.Request) -> Double { draw("\(request.method) \(request.target)") }

    private func draw(_ key: String) -> Double {
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key, default: 0]
        }
        // FNV-1a, because the hashes of the standard library differ in each process.
        var bits: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key.utf8 { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // SplitMix64. The count selects one number of the sequence.
        bits = (bits ^ seed) &+ count &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ bits >> 31) >> 11) / 9_007_199_254_740_992
    }
}
