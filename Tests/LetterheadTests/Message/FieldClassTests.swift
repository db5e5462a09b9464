// SPDX-License-Identifier: MIT
@testable import Letterhead
import Testing

@Suite struct FieldClassTests {
    @Test(
        arguments: [
            ("connection", .connection), ("TE", .connection), ("Content-Type", .content),
            ("content-language", .representation), ("Content-Digest", .digest), ("x-amz-checksum-crc32c", .digest),
            ("X-Amz-Content-Sha256", .digest), ("Signature-Input", .signature), ("X-Signature", .signature),
            ("Authorization", .credential), ("If-Range", .condition), ("Range", .other), ("traceparent", .trace),
            ("X-B3-TraceId", .trace), ("Via", .way), ("X-Tenant", .other), ("", .other),
        ] as [(String, HTTPHeaders.Name.Class)])
    func `a name has one class, in any case`(name: String, fieldClass: HTTPHeaders.Name.Class) {
        #expect(HTTPHeaders.Name(name).fieldClass == fieldClass)
    }
}
