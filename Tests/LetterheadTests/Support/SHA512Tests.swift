// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

struct SHA512Tests {
    /// The values are those of OpenSSL. The lengths are those around the end of a block and of its padding.
    @Test(arguments: [
        ("", 1, "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        ("abc", 1, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ("a", 111, "0239e429f98d0ed61ee8e2a7c30afe98c1c3a80ce5dff62a107e9c538f7632ce"),
        ("a", 112, "9216b5303edb66504570bee90e48ea5beaa5e9fe9f760bbd3e0460559fc005f6"),
        ("a", 127, "2fe3b2a6ee7e12f6fe4ba82166541ad9b4ed882c493581cbe300d68f3757b778"),
        ("a", 128, "b88f97e274f9c1d49f181c8cbd01a9c74930ad055a46ac4499a1d601f1c80bf2"),
        ("a", 300, "19f6f40dff1362d4798293b101b08b0e7d6ca4748780c164701ecce2412e3d17"),
    ]) func `SHA-512/256 has the values of another implementation`(text: String, count: Int, expected: String) {
        let hash = SHA512By256Hash.hash(Array(String(repeating: text, count: count).utf8))
        #expect(hash.map { DigestHash.digits(of: $0, count: 2) }.joined() == expected)
    }
}
