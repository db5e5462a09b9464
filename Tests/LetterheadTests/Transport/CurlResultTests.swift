// SPDX-License-Identifier: MIT
#if os(Linux)
    import Testing

    @testable import Letterhead

    /// Each of libcurl's numbers, as a caller gets it.
    struct CurlResultTests {
        private func failure(_ number: CInt, wasSent: Bool = true) -> TransportFailure {
            CurlResult(rawValue: number).failure(reason: "", wasSent: wasSent)
        }

        @Test(arguments: 1...101)
        func `every result code has a description, and reports whether anything was sent`(number: Int) {
            for wasSent in [true, false] {
                let failure = failure(CInt(number), wasSent: wasSent)
                // 25 is refused by libcurl itself, before it sends.
                #expect(!failure.message.isEmpty && failure.mayHaveBeenSent == (wasSent && number != 25))
                #expect(failure.code != .cancelled)
            }
        }

        /// What a request over HTTP can end with. The others belong to protocols and options that are never asked for.
        @Test(arguments: [
            (5, HTTPError.Code.cannotConnect), (6, .cannotConnect), (7, .cannotConnect), (97, .cannotConnect),
            (35, .insecureConnection), (58, .insecureConnection), (60, .insecureConnection), (77, .insecureConnection),
            (83, .insecureConnection), (90, .insecureConnection), (91, .insecureConnection), (98, .insecureConnection),
            (8, .invalidResponse), (18, .invalidResponse), (1, .invalidResponse), (16, .connectionLost),
            (52, .connectionLost), (55, .connectionLost), (56, .connectionLost), (65, .connectionLost),
            (92, .connectionLost), (95, .connectionLost), (28, .timedOut), (61, .invalidResponse),
            (63, .responseTooLarge), (100, .responseTooLarge), (27, .responseTooLarge), (3, .invalidResponse),
            (43, .invalidResponse), (25, .connectionLost),
        ])
        func `every result that a request can have maps to its error code`(number: Int, code: HTTPError.Code) {
            #expect(failure(CInt(number)).code == code)
        }

        @Test(arguments: [(0x074A00, "7.74.0"), (0x074FFF, "7.79.255"), (0x060000, "6.0.0")])
        func `a libcurl before 7.80 is refused with its version`(version: UInt32, found: String) {
            let rule = CurlQuirks.brokenRule(of: version)
            #expect(rule == "the system's libcurl is \(found), and the oldest supported version is 7.80.0")
        }

        @Test(arguments: [0x075000, 0x075100, 0x075801, 0x080000, 0x080E01])
        func `a libcurl from 7.80 on is used`(version: UInt32) {
            #expect(CurlQuirks.brokenRule(of: version) == nil)
        }

        @Test func `the libcurl of this system is used`() {
            #expect(CurlQuirks.brokenRule() == nil && TransportConfiguration().brokenCurlRule == nil)
        }

        @Test(arguments: [3, 43])
        func `a request that libcurl refuses before anything is sent is invalidRequest`(number: Int) {
            #expect(failure(CInt(number), wasSent: false).code == .invalidRequest)
        }

        @Test(arguments: [52, 55, 56])
        func `a connection that is lost before anything is sent is cannotConnect`(number: Int) {
            #expect(failure(CInt(number), wasSent: false).code == .cannotConnect)
        }

        @Test(arguments: [
            (35, "error:0A00010B:SSL routines::wrong version number", true, "the port probably expects http"),
            (60, "SSL certificate problem: self-signed certificate", true, "set security.roots"),
            (60, "SSL certificate problem: unable to get local issuer certificate", true, "set security.roots"),
            (1, "Received HTTP/0.9 when not allowed", false, "write https"),
        ])
        func `the error names what a user can change`(number: Int, reason: String, isSecure: Bool, advice: String) {
            let failure = CurlResult(rawValue: CInt(number)).failure(reason: reason, wasSent: true, isSecure: isSecure)
            #expect(failure.message.contains(advice), "\(failure.message)")
        }

        @Test(arguments: [
            "SSL certificate problem: certificate has expired", "SSL: no alternative certificate subject name",
        ])
        func `roots are no remedy for a certificate that has expired or is another host's`(reason: String) {
            #expect(
                !CurlResult(rawValue: 60).failure(reason: reason, wasSent: false).message.contains("security.roots"))
        }

        @Test func `libcurl's message is part of a connection error, and never of a response error`() {
            let reason = "what libcurl says"
            for number: CInt in [7, 60] {
                #expect(CurlResult(rawValue: number).failure(reason: reason, wasSent: false).message.contains(reason))
            }
            for number: CInt in [8, 18, 52, 56, 61] {
                #expect(!CurlResult(rawValue: number).failure(reason: reason, wasSent: true).message.contains(reason))
            }
        }
    }
#endif
