// SPDX-License-Identifier: MIT
import Foundation
import TestKit
import Testing

@testable import Letterhead

struct PublicKeyPinTests {
    @Test func `the pin of a certificate is the digest of its public key`() {
        #expect(PublicKeyPin.pin(ofPEM: Certificates.valid) == "sha256//\(Certificates.validPin)")
        #expect(PublicKeyPin.pin(ofPEM: "Subject: x\n" + Certificates.valid) == "sha256//\(Certificates.validPin)")
        #expect(PublicKeyPin.pin(ofPEM: Certificates.authority)?.hasSuffix(Certificates.validPin) == false)
    }

    @Test(arguments: ["", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMIIB\n", Certificates.validKey])
    func `a text that is not a certificate has no pin`(text: String) {
        #expect(PublicKeyPin.pin(ofPEM: text) == nil)
    }

    @Test func `a damaged certificate has a pin or none, and no length leads beyond its end`() throws {
        let lines = Certificates.valid.split(separator: "\n").dropFirst().dropLast().joined()
        let bytes = try #require(Data(base64Encoded: lines))
        func pin(_ bytes: Data) -> String? {
            PublicKeyPin.pin(
                ofPEM: "-----BEGIN CERTIFICATE-----\n\(bytes.base64EncodedString())\n-----END CERTIFICATE-----")
        }
        for count in 0..<bytes.count { #expect(pin(bytes.prefix(count)) == nil) }
        for index in bytes.indices {
            for value: UInt8 in [0, 0x7F, 0x80, 0x84, 0xFF] {
                var damaged = bytes
                damaged[index] = value
                _ = pin(damaged)
            }
        }
    }

    @Test func `the keys of a host replace those of all hosts`() {
        var security = TransportConfiguration.Security()
        let (one, two) = (Data(repeating: 1, count: 32), Data(repeating: 2, count: 32))
        security.pinnedKeys = [one]
        security.pinnedKeysByHost = ["a.example": [two]]
        for host in ["a.example", "A.Example", "a.example."] { #expect(security.pinnedKeys(of: host) == [two]) }
        for host in ["b.example", "b.a.example", "a.example.org"] { #expect(security.pinnedKeys(of: host) == [one]) }
    }

    @Test(arguments: ["", "A.example", "a.example.", "a.example:443", "https://a.example", "*.example", "a b"])
    func `a pinned host that is not a name in lower case is refused`(host: String) {
        var security = TransportConfiguration.Security()
        security.pinnedKeysByHost = [host: [Data(count: 32)]]
        #expect(security.brokenRule?.contains("pinnedKeysByHost") == true)
    }

    @Test(arguments: [[], [Data(count: 31)], [Data(count: 32), Data()]])
    func `a pinned host without a digest of 32 bytes is refused`(digests: [Data]) {
        var security = TransportConfiguration.Security()
        security.pinnedKeysByHost = ["a.example": digests]
        #expect(security.brokenRule?.contains("pinnedKeysByHost") == true)
    }
}
