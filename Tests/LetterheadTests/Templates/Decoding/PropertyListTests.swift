// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

struct PropertyListTests {
    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `a property list is decoded`(format: PropertyListSerialization.PropertyListFormat) async throws {
        let value: [String: JSONValue] = [
            "a": ["b": [1, 2.5, true, "x", .uint(.max)], "c": [:]], "list": .array((0..<300).map { .int($0) }),
        ]
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let body = HTTPResponseBody(try encoder.encode(value))
        for decoder in [
            PropertyListDecoder(),
            MediaTypeDecoder([(.json, JSONDecoder()), ("application/x-plist", PropertyListDecoder())]),
        ] as [any HTTPBodyDecoder] {
            let request = HTTPRequest().with { $0.decoder = decoder }
            let response = HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "application/x-plist"], body: body)
            #expect(try await response.decode([String: JSONValue].self) == value)
        }
    }
}
