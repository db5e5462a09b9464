// SPDX-License-Identifier: MIT
#if DEBUG
    import Foundation
    @testable import Letterhead

    extension Reader {
        /// The readers of cookies, of cache headers and of the files of stores.
        static let state = [cookies, cookieFiles, cacheHeaders, cacheFiles]

        static let cookies = Reader(
            name: "Set-Cookie",
            samples: [
                "id=a; Domain=.example.com; Path=/x; Max-Age=60; Secure; HttpOnly; SameSite=Lax",
                "__Host-a=b; Secure; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "a",
                "=b; Expires=6 nov 94 8:49:37",
            ],
            hostile: [";", "=", "a=b;", "Expires=", "a=b; Expires=1 ", "Path=/", " ", "Domain=."]
        ) { bytes in
            var request = HTTPRequest()
            (request.scheme, request.host, request.path) = ("https", "www.example.com", "/a/b")
            var response = HTTPResponse(request: request, status: .ok)
            response.headers.append(.setCookie, text(bytes))
            for cookie in response.cookies { _ = cookie.description }
            try? request.addCookie(text(bytes), text(bytes))
        }

        static let cookieFiles = Reader(
            name: "cookies.txt",
            samples: [
                "# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t1800000000\tid\ta=b\n",
                "#HttpOnly_a.example\tFALSE\t/x\tFALSE\t0\tempty\t\r\n\nb.example\tFALSE\t/\tFALSE\t0\ta\n",
            ],
            hostile: ["\n", "\t", "#", "a\tTRUE\t/\tTRUE\t0\ta\tb\n", "#HttpOnly_"]
        ) { bytes in
            let jar = CookieJar()
            try? jar.add(text: text(bytes))
            if bytes.count < 1000 { try? jar.add(text: jar.text) }
        }

        static let cacheHeaders = Reader(
            name: "cache headers",
            samples: [
                "max-age=60, stale-while-revalidate=\"5\", private=\"a, b\"", "Sun, 06 Nov 1994 08:49:37 GMT",
                "Accept, *, Foo", "bytes=0-5", "en;q=0.5, de",
            ],
            hostile: [",", "\"", "a=\"", "max-age=", "a,", "\\", "0", " "]
        ) { bytes in CacheReading.read(text(bytes)) }

        static let cacheFiles = Reader(
            name: "cache file", samples: CacheReading.samples, hostile: ["\u{0}", "LHC4", "-", "0-", "f"]
        ) { bytes in CacheReading.readFile(bytes) }
    }
#endif
