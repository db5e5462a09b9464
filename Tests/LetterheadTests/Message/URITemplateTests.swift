// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

/// Expansion follows RFC 6570 at all four levels, and a template that breaks a rule is refused with its position.
@Suite struct URITemplateTests {
    /// The variables of RFC 6570, section 3.2.
    private static let values: URITemplate.Values = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
        "list": ["red", "green", "blue"], "keys": URITemplate.pairs(["semi": ";", "dot": ".", "comma": ","]),
        "v": "6", "x": "1024", "y": 768, "empty": "", "empty_keys": [String](), "undef": String?.none,
        "escaped": "a%2Fb%", "city": "Zürich", "clef": "𝄞x", "a.b": 1.5, "Stra%C3%9Fe": "x",
        "umlaut": "%C3%BCx", "one": ["red"], "both": QueryParameters.list([1, 2]), "json": JSONValue.array(["red"]),
    ]

    @Test(arguments: [
        // Literals
        ("", ""), ("a-._~/b?c=d&e#f", "a-._~/b?c=d&e#f"), ("caf\u{E9}/{var}", "caf%C3%A9/value"),
        ("a%2f{var}", "a%2fvalue"), ("'{count}'", "'one,two,three'"),
        // Simple
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{empty}X", "OX"),
        ("O{undef}X", "OX"), ("{x,y}", "1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"), ("?{x,undef}", "?1024"), ("?{undef,y}", "?768"), ("{var:3}", "val"),
        ("{var:30}", "value"), ("{list}", "red,green,blue"), ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"), ("{keys*}", "semi=%3B,dot=.,comma=%2C"), ("{city:2}", "Z%C3%BC"),
        ("{clef:1}", "%F0%9D%84%9E"), ("{a.b}", "1.5"), ("{dub}", "me%2Ftoo"), ("{escaped}", "a%252Fb%25"),
        ("{unknown}", ""),
        // Reserved
        ("{+var}", "value"), ("{+hello}", "Hello%20World!"), ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"), ("{+base}index", "http://example.com/home/index"),
        ("{+path}/here", "/foo/bar/here"), ("{+path:6}/here", "/foo/b/here"), ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{+list*}", "red,green,blue"), ("{+keys}", "semi,;,dot,.,comma,,"), ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{+escaped}", "a%2Fb%25"), ("{+escaped:1}", "a"), ("{+escaped:2}", "a%2F"), ("{+escaped:9}", "a%2Fb%25"),
        ("{+umlaut:1}", "%C3%BC"), ("{+umlaut:2}", "%C3%BCx"), ("{+clef:1}", "%F0%9D%84%9E"), ("{umlaut:2}", "%25C"),
        // Lists of a query
        ("{both}", "1,2"), ("{?both}", "?both=1,2"), ("{?both*}", "?both=1&both=2"),
        ("{?one,json}", "?one=red&json=red"),
        // Fragment
        ("{#escaped:2}", "#a%2F"), ("{#var}", "#value"), ("{#hello}", "#Hello%20World!"), ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"), ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path:6}here", "#/foo/bhere"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
        // Label
        ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"), ("X{.empty}", "X."), ("X{.undef}", "X"), ("X{.list}", "X.red,green,blue"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"), ("X{.empty_keys*}", "X"),
        // Path
        ("{/who}", "/fred"), ("{/half,who}", "/50%25/fred"), ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"), ("{/var,undef}", "/value"), ("{/var:1,var}", "/v/value"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"), ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        // Parameters of a path
        ("{;who}", ";who=fred"), ("{;empty}", ";empty"), ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;x,y,undef}", ";x=1024;y=768"), ("{;list}", ";list=red,green,blue"),
        ("{;list*}", ";list=red;list=green;list=blue"), ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        // Query
        ("{?who}", "?who=fred"), ("{?x,y,empty}", "?x=1024&y=768&empty="), ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"), ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"), ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"), ("{?undef}", ""),
        ("{?Stra%C3%9Fe}", "?Stra%C3%9Fe=x"),
        // Continued query
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&x,y,empty}", "&x=1024&y=768&empty="),
        ("{&list*}", "&list=red&list=green&list=blue"),
    ])
    func `a template is expanded by the rules of its operator`(template: String, expected: String) {
        #expect(URITemplate(template).expanded(Self.values) == expected)
    }

    @Test func `pairs with empty values keep the form of the operator`() {
        let values: URITemplate.Values = ["keys": URITemplate.pairs(["a": "", "b": 2])]
        #expect(URITemplate("{?keys*}").expanded(values) == "?a=&b=2")
        #expect(URITemplate("{;keys*}").expanded(values) == ";a;b=2")
        #expect(URITemplate("{keys*}").expanded(values) == "a=,b=2")
    }

    @Test(arguments: [
        ("{/id*", 5, "\"}\" is missing"), ("/id*}", 4, "without a \"{\""), ("{/?id}", 2, "the name of a variable"),
        ("{var:prefix}", 5, "from 1 to 9999"), ("{var:0}", 5, "from 1 to 9999"), ("{var:}", 5, "from 1 to 9999"),
        ("{var:10000}", 9, "neither"), ("{hello:2*}", 8, "neither"), ("{!hello}", 1, "reserved"),
        ("{=path}", 1, "reserved"),
        ("{|var*}", 1, "reserved"), ("{$var}", 1, "the name of a variable"), ("{}", 1, "the name of a variable"),
        ("a{with space}", 6, "neither"), ("{var,}", 5, "the name of a variable"), ("{x.}", 3, "the name of a variable"),
        ("{x..y}", 3, "the name of a variable"), ("{%2x}", 1, "hexadecimal"), ("a%2", 1, "hexadecimal"),
        ("a b", 1, "percent-encoded"), ("a\"", 1, "percent-encoded"), ("a\u{7F}", 1, "percent-encoded"),
        ("{~thing}", 1, "the name of a variable"), ("{a-b}", 2, "neither"), ("{a{b}}", 2, "neither"),
    ])
    func `a malformed template is refused with its position, and not expanded from there`(
        text: String, offset: Int, rule: String
    ) throws {
        let template = URITemplate("x/" + text)
        let request = HTTPRequest().with { ($0.host, $0.path) = ("example.com", template.path(Self.values)) }
        for refused in [{ try request.validate() }, { _ = try HTTPRequest(template, Self.values) }] {
            let error = #expect(throws: HTTPError.self) { try refused() }
            #expect(error?.code == .invalidRequest && error?.message.contains("at offset \(offset + 2): ") == true)
            #expect(error?.message.contains(rule) == true, "\(error?.message ?? "")")
        }
        let expanded = template.expanded(Self.values)
        #expect(expanded.isEmpty || "x/\(text)".hasSuffix(expanded.dropFirst(2)))
    }

    @Test func `the parts before a defect are expanded`() {
        #expect(URITemplate("{var}/{x:0}/{y}").expanded(Self.values) == "value/{x:0}/{y}")
        #expect(URITemplate("{var}/{keys:2}/{y}").expanded(Self.values) == "value/{keys:2}/{y}")
    }

    @Test(arguments: [
        URITemplate("a/{list:2}"), URITemplate("a/{keys:2}"), URITemplate("a/{dot}"), URITemplate("a/{dots}/b"),
        URITemplate("a{/dots}"), URITemplate("a/{date}"), URITemplate("a/{one:2}"), URITemplate("a/{json:2}"),
        URITemplate("a/{both:2}"), URITemplate("{dots}:b/.."),
    ])
    func `a path whose value cannot be written, or would change its segments, is refused`(template: URITemplate) {
        var values = Self.values
        values.set("dot", to: ".")
        values.set("dots", to: "..")
        values.set("date", to: Date(timeIntervalSince1970: -1e15))
        #expect(throws: HTTPError.self) { try HTTPRequest(template, values) }
    }

    @Test func `an endpoint and a request have the path, the query and the route of a template`() throws {
        let template = URITemplate("users/{login}/repos{?page,tag*}")
        let values: URITemplate.Values = ["login": "a/b", "page": 2, "tag": ["x", "y z"]]
        let request = try StandardRequestBuilder(Get<[String]>(template, values)).request()
        #expect(request.path.route == "users/{login}/repos")
        #expect(request.target == "/users/a%2Fb/repos?page=2&tag=x&tag=y%20z" && request.query["tag"] == "x")
        let same = try HTTPRequest(template, values)
        #expect(same.target == request.target && same.path.route == request.path.route && same.host == nil)
        let put = try StandardRequestBuilder(Put<Void>(template.path(values), query: template.query(values))).request()
        #expect(put.target == request.target)
    }

    @Test(arguments: [
        ("accounts:lookup{?key}", "accounts:lookup", "accounts:lookup"), ("{+id}{?key}", "urn:isbn:1", "{id}"),
        ("a:b/{key}#c", "a:b/k", "a:b/{key}"), ("{key}:cancel{#id}", "k:cancel", "{key}:cancel"),
    ])
    func `a path may begin with a word and a colon`(text: String, path: String, route: String) throws {
        let (template, values) = (URITemplate(text), ["id": "urn:isbn:1", "key": "k"] as URITemplate.Values)
        #expect(template.path(values).string == path && template.path(values).route == route)
        #expect(try HTTPRequest(template, values).target == "/" + path + (text.contains("?") ? "?key=k" : ""))
    }

    @Test(arguments: ["users{?q:0}", "users{?list:2}", "{x:0}?a=b", "users{?date}"])
    func `a request with the query of a malformed template or value is refused`(text: String) throws {
        var (request, values) = (try HTTPRequest("https://example.com/a"), Self.values)
        values.set("date", to: Date(timeIntervalSince1970: -1e15))
        request.query = URITemplate(text).query(values)
        let error = #expect(throws: HTTPError.self) { try request.validate() }
        #expect(error?.code == .invalidRequest, "\(request.query)")
        #expect(
            error?.message.hasPrefix("the query cannot be written: the URI template is malformed at offset ") == true)
    }

    @Test func `an absolute template is a request, and no path`() throws {
        let template = URITemplate("https://api.example.com/users{/login}{?q}")
        let request = try HTTPRequest(method: .head, template, ["login": "ada", "q": "1&2"])
        #expect(try request.urlString() == "https://api.example.com/users/ada?q=1%262" && request.method == .head)
        let relative = HTTPRequest().with { ($0.host, $0.path) = ("example.com", template.path()) }
        #expect(throws: HTTPError.self) { try relative.validate() }
        #expect(throws: HTTPError.self) { try HTTPRequest(URITemplate("ftp://{host}/"), ["host": "example.com"]) }
    }
}
