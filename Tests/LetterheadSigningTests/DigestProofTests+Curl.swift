// SPDX-License-Identifier: MIT
import Letterhead
@testable import LetterheadSigning

/// Challenges and proofs of another client: they come from the tests of curl, and the paths have their numbers.
extension DigestProofTests {
    private static func vector(
        _ path: String, user: String = "testuser", password: Secret = "testpass", method: HTTPMethod? = nil,
        _ challenges: String..., proof: String, also expected: String...
    ) -> Vector {
        Vector(
            testDescription: "curl's test \(path)", user: user, password: password, challenges: challenges,
            url: "http://127.0.0.1/\(path)", method: method,
            expected: [#"response="\#(proof)""#, #"uri="/\#(path)""#] + expected, unexpected: ["qop", "nc=", "cnonce"])
    }

    private static let plain = #"Digest realm="testrealm", nonce="1053604145""#
    private static let blackmagic = "gimme all yer s3cr3ts"

    static let curlVectors = [
        vector("1530001", plain, proof: "f4f83139396995bac665f24a1f1055c7", also: #"username="testuser""#),
        vector("1530002", plain, proof: "f84511b014fdd0ba6494f42871079c32", also: #"nonce="1053604145""#),
        vector("273", plain, plain, proof: "576ae57b1db0039f8c0de43ef58e49e3"),
        vector(
            "154", method: .put, #"Blackmagic realm="\#(blackmagic)""#, #"Basic realm="\#(blackmagic)""#,
            #"Digest realm="\#(blackmagic)", nonce="11223344""#, proof: "b71551e12d1c456e47d8388ecb2edeca",
            also: #"realm="\#(blackmagic)""#),
        vector(
            "1095", #"Digest realm="test \"this\" realm!!", nonce="1053604145""#,
            proof: "df3246f44d2bc8de0e9f8fc4d7cf6e95", also: #"realm="test \"this\" realm!!""#),
        vector(
            "1229", user: #"\user""#, password: "password", plain, proof: "f2694d426040712584c156d3de72b8d6",
            also: #"username="\\user\"""#),
        vector(
            "245", user: "auser", password: "apasswd", method: .post, #"Digest realm="testrealm", nonce="1053604144""#,
            proof: "379a439b1737ba257c1d2f103914b18b"),
        vector(
            "2061", plain + #", algorithm="SHA-256""#,
            proof: "9dc55255f1a2537b838311674b621d45346b862a81631bb20e4ce356ef25062d", also: "algorithm=SHA-256"),
        vector(
            "2063", plain + #", algorithm="SHA-256", userhash=true"#,
            proof: "6c470aec384ab1d4e12d3ce1f5b08303d8cad177e52ebe50ec1a3e141adb0cdc",
            also: #"username="75af8a3500f771e58a52093a25e7905d6e428a511285c12ea1420c73078dfd61""#, "userhash=true"),
        vector(
            "2069", user: "auser", password: "apasswd", method: .post,
            #"Digest realm="testrealm", nonce="1053604144", algorithm="SHA-256", userhash=true"#,
            proof: "9a29f1dab407e62daa7121185f9f12db6177415e03f35d9a881550095a83378d",
            also: #"username="fddc3bc7b753b73ab0848fd83cb20cbbca971258eb8d20c941dd5e0b010d66be""#),
    ]
}
