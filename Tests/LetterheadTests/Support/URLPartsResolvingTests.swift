// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct URLPartsResolvingTests {
    @Test(arguments: [
        // RFC 3986, 5.4.1
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        // RFC 3986, 5.4.2
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]) func `a reference is resolved as in the examples of RFC 3986`(reference: String, target: String) {
        #expect(URLParts("http://a/b/c/d;p?q").resolving(URLParts(reference)).string == target)
    }

    @Test(arguments: [
        ("http://a", "g", "http://a/g"), ("http://a/x#f", "/g", "http://a/g#f"),
        ("http://a/x#f", "/g#e", "http://a/g#e"),
        ("http://a/x", "//b:8/%2e%2E/a%2Fb", "http://b:8/%2e%2E/a%2Fb"), ("http://a/x", "/a//b", "http://a/a//b"),
    ]) func `the fragment is inherited, and bytes are not changed`(base: String, reference: String, target: String) {
        #expect(URLParts(base).resolving(URLParts(reference)).string == target)
    }
}
