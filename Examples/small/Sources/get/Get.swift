// SPDX-License-Identifier: MIT
import Letterhead

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends one GET and prints the status and the length of the body.
@main
struct Get {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            return print("usage: get URL")
        }
        do {
            let response = try await HTTPClient().send(HTTPRequest(url: url))
            print(response.status.code, response.body.length ?? 0)
        } catch {
            print(error)
        }
        // With a number as the second argument, it stays idle for as many seconds, so that its memory can be measured.
        if let seconds = CommandLine.arguments.dropFirst(2).first.flatMap({ Int($0) }) {
            try? await Task.sleep(for: .seconds(seconds))
        }
    }
}
