// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import Testing

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}

@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func `the test vectors of NIST have the expected hash`(message: String, digest: String) {
        #expect(hex(SHA256Hash.hash(Array(message.utf8))) == digest)
    }

    @Test(arguments: [
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
        (1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `messages at the limits of a block are padded correctly, and a million letters have the hash of NIST`(
        count: Int, digest: String
    ) {
        #expect(hex(SHA256Hash.hash([UInt8](repeating: UInt8(ascii: "a"), count: count))) == digest)
    }

    @Test(arguments: [1, 7, 63, 64, 65, 200]) func `a message in pieces has the hash of the whole`(size: Int) {
        let message = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        var hasher = SHA256Hash()
        for start in stride(from: 0, to: message.count, by: size) {
            hasher.update(message[start..<min(start + size, message.count)])
        }
        #expect(hasher.finalize() == SHA256Hash.hash(message))
    }

    #if !canImport(CryptoKit)
        @Test func `libcrypto is used if the process has loaded it`() {
            let names = ["libcrypto.so.3", "libcrypto.so.1.1"]
            let isLoaded = names.contains { unsafe dlopen($0, RTLD_NOLOAD | RTLD_LAZY) != nil }
            #expect(unsafe (PlainSHA256.libcrypto != nil) == isLoaded)
        }

        @Test func `libcrypto and the code in Swift compute the same hashes`() {
            for length in (0..<200) + [1_000, 4_096, 100_003] {
                let message = (0..<length).map { _ in UInt8.random(in: 0...255) }
                let hashes = [true, false].map { usesLibrary in
                    var hash = PlainSHA256(usesLibrary: usesLibrary)
                    for piece in [message.prefix(length / 3), message.dropFirst(length / 3)] {
                        unsafe piece.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
                    }
                    return hash.finalize()
                }
                #expect(hashes[0] == hashes[1], "\(length) bytes")
            }
        }
    #endif

    @Test func `Base64 for URLs has no padding`() {
        #expect(RandomBytes.base64URL([3, 236, 255, 224, 193]) == "A-z_4ME")
    }

    @Test func `the requested number of random bytes is returned, and they differ`() {
        let (first, second) = (RandomBytes.system(32), RandomBytes.system(32))
        #expect(first.count == 32 && first != second)
    }
}
