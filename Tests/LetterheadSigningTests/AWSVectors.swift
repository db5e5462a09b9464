// SPDX-License-Identifier: MIT
import Testing

/// The test suite that AWS publishes for Signature Version 4: the requests without a body. Each has the key
/// AKIDEXAMPLE, the date 2015-08-30T12:36:00Z, the region us-east-1, the service "service" and the host
/// example.amazonaws.com.
struct AWSVector: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let method: String
    let target: String
    let headers: [(String, String)]
    let signature: String
    /// The signature of the URL that expires in an hour. Nil if the target isn't escaped.
    let linkSignature: String?
    let token: String?

    init(
        _ name: String, _ method: String = "GET", _ target: String = "/", _ headers: [(String, String)] = [],
        header signature: String, link linkSignature: String? = nil, token: String? = nil
    ) {
        (testDescription, self.method, self.target, self.headers) = (name, method, target, headers)
        (self.signature, self.linkSignature, self.token) = (signature, linkSignature, token)
    }

    static let suite: [AWSVector] = [
        AWSVector(
            "get-header-key-duplicate", "GET", "/",
            [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            header: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            link: "3349ee0b81b4b589da0ff28a395c3591e04de515651dd74f298fa992d1507a97"),
        AWSVector(
            "get-header-value-multiline", "GET", "/", [("My-Header1", "value1 value2 value3")],
            header: "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd",
            link: "e6f5def831211aca02987a44b96826706278c7bc078112ae0263659c5b2f2d56"),
        AWSVector(
            "get-header-value-order", "GET", "/",
            [("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2")],
            header: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
            link: "313720e71ca6202fdcfa9b20f88de01a4eb0638a83c833b1c184359a4eda864e"),
        AWSVector(
            "get-header-value-trim", "GET", "/", [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            header: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            link: "e7bb0fd515e125e1aec2ecc4c0c17484fb06f6846b927c35e46005dd3df3acd4"),
        AWSVector(
            "get-relative-normalized", "GET", "/example/..",
            header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-relative-relative-normalized", "GET", "/example1/example2/../..",
            header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-slash-dot-slash-normalized", "GET", "/./",
            header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-slash-normalized", "GET", "//",
            header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-slash-pointless-dot-normalized", "GET", "/./example",
            header: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5",
            link: "35034b1a0bdd969f346975386daf8aedfd4976573b8348cf4f67eaa41c5857de"),
        AWSVector(
            "get-slashes-normalized", "GET", "//example//",
            header: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
            link: "c1834e8fb0307243711f0f907f6ab7311ed300d87f13792d7ee4da89ab93e082"),
        AWSVector(
            "get-space-normalized", "GET", "/example space/",
            header: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        AWSVector(
            "get-unreserved", "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            header: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
            link: "95968482db1b9e0fadef6efc1bd24689f77c77d9ef56919c96a28cc92e0d6005"),
        AWSVector("get-utf8", "GET", "/ሴ", header: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        AWSVector(
            "get-vanilla", header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-vanilla-empty-query-key", "GET", "/?Param1=value1",
            header: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
            link: "49096700cbbaa5753443850f40df10f904fc2fdb544dc9512203cc77c471a9de"),
        AWSVector(
            "get-vanilla-query", header: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            link: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        AWSVector(
            "get-vanilla-query-order-encoded", "GET", "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            header: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
            link: "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787"),
        AWSVector(
            "get-vanilla-query-order-key-case", "GET", "/?Param2=value2&Param1=value1",
            header: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            link: "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"),
        AWSVector(
            "get-vanilla-query-unreserved", "GET",
            "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            header: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
            link: "8e76a88a7433637b12778d5592799b29ad21ecd6cf6325051c21d86f0acda2bf"),
        AWSVector(
            "get-vanilla-utf8-query", "GET", "/?ሴ=bar",
            header: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        AWSVector(
            "get-vanilla-with-session-token",
            header: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
            link: "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c",
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"),
        AWSVector(
            "post-header-key-case", "POST", header: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            link: "2ce6e6d2e0cf2f9d1b55fafec88cd20574c31dc2e7631979f71ba2310083e95b"),
        AWSVector(
            "post-header-key-sort", "POST", "/", [("My-Header1", "value1")],
            header: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
            link: "c09d07e0d55871f10f2a6d350d994acf6825a3cae70673d7def55616e6119dd7"),
        AWSVector(
            "post-header-value-case", "POST", "/", [("My-Header1", "VALUE1")],
            header: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
            link: "0698bc9e4f7f9139065ba2909c0e99da257e8e2a42492a097bcd46d792391fed"),
        AWSVector(
            "post-sts-header-before", "POST",
            header: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
            link: "46c2e3c63c1dbe7d39f8ada16fe7f001c1f56c5791441565323677f96308871c",
            token:
                "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
        ),
        AWSVector(
            "post-vanilla", "POST", header: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            link: "2ce6e6d2e0cf2f9d1b55fafec88cd20574c31dc2e7631979f71ba2310083e95b"),
        AWSVector(
            "post-vanilla-empty-query-value", "POST", "/?Param1=value1",
            header: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
            link: "a9ef26247f293bffe40eeff86a0480ba8c14d31503b2e0c3399e3a16bf1a3682"),
        AWSVector(
            "post-vanilla-query", "POST", "/?Param1=value1",
            header: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
            link: "a9ef26247f293bffe40eeff86a0480ba8c14d31503b2e0c3399e3a16bf1a3682"),
    ]
}
