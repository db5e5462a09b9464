// SPDX-License-Identifier: MIT
import Letterhead
import Testing

private enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }
private enum Region: HTTPRequestOption { static let defaultOptionValue = "none" }
private enum Budget: HTTPRequestOption { static let defaultOptionValue: Int? = 5 }

extension RequestSettings {
    fileprivate var tenant: String {
        get { self[option: Tenant.self] }
        set { self[option: Tenant.self] = newValue }
    }
}

@Suite struct HTTPRequestOptionTests {
    @Test func `an option that is set has its value, and copies are independent`() {
        let request = HTTPRequest().with { $0[option: Tenant.self] = "acme" }
        var copy = request
        copy[option: Tenant.self] = "other"
        #expect(request[option: Tenant.self] == "acme" && copy[option: Tenant.self] == "other")
    }

    @Test func `an explicit nil is stored`() {
        var request = HTTPRequest()
        #expect(request[option: Budget.self] == 5)
        request[option: Budget.self] = nil
        #expect(request[option: Budget.self] == nil && request.options.contains(Budget.self))
    }

    @Test func `a setting that is declared once is a property of a request and of options`() {
        var (request, options) = (HTTPRequest(), HTTPRequestOptions())
        (request.tenant, options.tenant) = ("acme", "acme")
        (request.timeout, options.timeout) = (.seconds(1), .seconds(1))
        #expect(request[option: Tenant.self] == "acme" && options[option: Tenant.self] == "acme")
        #expect(request.options.timeout == .seconds(1) && options.timeout == .seconds(1))
    }

    @Test func `two options of one type do not collide`() {
        let request = HTTPRequest().with { $0[option: Tenant.self] = "acme" }
        #expect(request[option: Region.self] == "none")
    }

    @Test func `an option can be removed`() {
        var options = HTTPRequestOptions()
        options[option: Budget.self] = nil
        options.remove(Budget.self)
        #expect(options[option: Budget.self] == 5 && !options.contains(Budget.self))
    }

    @Test func `merged options replace options of the same type only`() {
        var options = HTTPRequestOptions()
        options[option: Tenant.self] = "acme"
        options[option: Region.self] = "eu"
        var others = HTTPRequestOptions()
        others[option: Tenant.self] = "other"
        others[option: Budget.self] = nil
        options.replace(with: others)
        #expect(options[option: Tenant.self] == "other" && options[option: Region.self] == "eu")
        #expect(options[option: Budget.self] == nil)
    }

    @Test func `no option is in the description of a request`() {
        let request = HTTPRequest().with { $0[option: Tenant.self] = "acme" }
        #expect(!"\(request)".contains("acme"))
        #expect(!String(reflecting: request).contains("acme"))
    }
}
