// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadRelay
    import TestKit

    /// The far end of a relay, which answers the messages of its standard input until that ends.
    struct RelayProcess {
        func run() async {
            let (server, pipe) = (RelayServer(HTTPClient.defaultTransport), MessagePipe(input: 0, output: 1))
            let (closed, close) = AsyncStream.makeStream(of: Void.self)
            pipe.read { number, data in
                guard let data else { return }
                Task {
                    for await piece in server.answers(to: data) { pipe.write(number, piece) }
                    pipe.write(number, nil)
                }
            } atEnd: {
                close.finish()
            }
            for await _ in closed {}
        }
    }
#endif
