// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import LetterheadAsyncHTTPClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite struct ErrorMappingTests {
    /// An established connection that has lost its route has the same codes as one that could not be made.
    @Test(arguments: [
        (ECONNREFUSED, "read(descriptor:pointer:size:)", true), (EHOSTUNREACH, "connect(descriptor:addr:size:)", true),
        (ENETUNREACH, "finishing a non-blocking connect failed", true), (EMFILE, "socket(domain:type:protocol:)", true),
        (EACCES, "socket(domain:type:protocol:)", true), (EHOSTUNREACH, "read(descriptor:pointer:size:)", false),
        (ENETDOWN, "write(descriptor:pointer:size:)", false), (ECONNRESET, "read(descriptor:pointer:size:)", false),
    ])
    func `only an error of connecting is certainly unsent`(code: CInt, reason: String, isUnsent: Bool) throws {
        let exchange = Exchange(try HTTPRequest("https://a.test"), idleTimeout: nil)
        let error = HTTPError(endOf: exchange, IOError(errnoCode: code, reason: reason))
        #expect(error.mayHaveBeenSent == !isUnsent)
        #expect(error.code == (isUnsent ? .cannotConnect : .connectionLost) && error.underlying is IOError)
    }

    @Test func `after the head of the response, each error is a lost connection`() throws {
        let exchange = Exchange(try HTTPRequest("https://a.test"), idleTimeout: nil)
        exchange.state.withLock { $0.head = (.ok, [:], .http1_1) }
        let error = HTTPError(
            endOf: exchange, IOError(errnoCode: EHOSTUNREACH, reason: "connect(descriptor:addr:size:)"))
        #expect(error.code == .connectionLost && error.mayHaveBeenSent)
    }
}
