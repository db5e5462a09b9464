// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning

/// Keys and messages of RFC 9421, appendix B. Those for RSA are left out.
enum RFC9421 {
    static let date = Date(timeIntervalSince1970: 1_618_884_473)

    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
        w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
        -----END PUBLIC KEY-----
        """
    static let p256Private = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFKbhfNZfpDsW43+0+JjUr9K+bTeuxopu653+hBaXGA7oAoGCCqGSM49
        AwEHoUQDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4FivAxzic30tMM
        4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
        -----END EC PRIVATE KEY-----
        """
    static let p256JWK = #"""
        {"kty":"EC","crv":"P-256","x":"qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA",
        "y":"Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0","d":"UpuF81l-kOxbjf7T4mNSv0r5tN67Gim7rnf6EFpcYDs"}
        """#
    static let edPublic = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
        -----END PUBLIC KEY-----
        """
    static let edPrivate = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
        -----END PRIVATE KEY-----
        """
    static let edJWK = #"""
        {"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
        "d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"}
        """#
    static let sharedJWK =
        #"{"kty":"oct","k":"uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ"}"#

    static func request() throws -> HTTPRequest {
        var request = try HTTPRequest(method: .post, "https://example.com/foo?param=Value&Pet=dog")
        request.headers = [
            "Date": "Tue, 20 Apr 2021 02:07:55 GMT",
            "Content-Digest":
                "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
        ]
        request.body = DataBody(Data(#"{"hello": "world"}"#.utf8), contentType: "application/json")
        return request
    }

    /// The response of B.2 with the signature of B.2.4.
    static func response() throws -> HTTPResponse {
        HTTPResponse(
            request: try request(), status: 200,
            headers: [
                "Date": "Tue, 20 Apr 2021 02:07:56 GMT", "Content-Type": "application/json",
                "Content-Digest":
                    "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:",
                "Content-Length": "23",
                "Signature-Input":
                    #"sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#,
                "Signature":
                    "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:",
            ], body: HTTPResponseBody(Data(#"{"message": "good dog"}"#.utf8)))
    }

    /// The response of 2.4.
    static func boundResponse() throws -> HTTPResponse {
        HTTPResponse(
            request: try request(), status: 503,
            headers: [
                "Content-Type": "application/json",
                "Content-Digest":
                    "sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObfwnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:",
                "Signature-Input":
                    #"reqres=("@status" "content-digest" "content-type" "@authority";req "@method";req "@path";req "content-digest";req);created=1618884479;keyid="test-key-ecc-p256""#,
                "Signature":
                    "reqres=:dMT/A/76ehrdBTD/2Xx8QuKV6FoyzEP/I9hdzKN8LQJLNgzU4W767HK05rx1i8meNQQgQPgQp8wq2ive3tV5Ag==:",
            ], body: HTTPResponseBody(Data(#"{"busy": true, "message": "Your call is very important to us"}"#.utf8)))
    }

    /// The request of B.3, which a proxy has signed with a client's certificate.
    static func proxied() throws -> HTTPRequest {
        let certificate =
            "MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVy"
            + "bWVkaWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0D"
            + "AQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYD"
            + "VR0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIw"
            + "HQYDVR0RAQH/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCO"
            + "OB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk="
        var request = try HTTPRequest(method: .post, "https://service.internal.example/foo?param=Value&Pet=dog")
        request.headers = [
            "Date": "Tue, 20 Apr 2021 02:07:55 GMT", "Client-Cert": ":\(certificate):",
            "Signature-Input":
                #"ttrp=("@path" "@query" "@method" "@authority" "client-cert");created=1618884473;keyid="test-key-ecc-p256""#,
            "Signature":
                "ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:",
        ]
        return request
    }

    /// The request of B.4, whose transformations keep the signature valid or don't.
    static func transformed() throws -> HTTPRequest {
        var request = try HTTPRequest("https://example.org/demo?name1=Value1&Name2=value2")
        request.headers = [
            "Host": "example.org", "Date": "Fri, 15 Jul 2022 14:24:55 GMT", "Accept": "application/json",
            "Accept": "*/*",
            "Signature-Input":
                #"transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#,
            "Signature":
                "transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:",
        ]
        return request
    }
}
