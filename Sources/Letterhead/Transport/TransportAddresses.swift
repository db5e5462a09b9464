// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension TransportConfiguration.Security {
    /// The IP addresses that a transport may connect to.
    ///
    /// ```swift
    /// var configuration = TransportConfiguration()
    /// configuration.proxy = .direct
    /// configuration.security.addresses = .public
    /// let client = HTTPClient(transport: HTTPClient.makeTransport(configuration))
    /// ```
    ///
    /// Set it to ``public`` in a program that requests URLs from outside, such as webhooks, link previews or the tools
    /// of an agent. Such a URL, its host name, or a redirect can otherwise lead to a service that only your own network
    /// should reach, such as the metadata service of a cloud.
    ///
    /// - The transport judges each address immediately before it opens a connection to this address. The spelling of an
    ///   address in a URL, redirects, and later responses of DNS make no difference.
    /// - If some addresses of a host are allowed, the transport connects to one of them. If none is, nothing is sent,
    ///   and the request fails with `.invalidRequest`, which isn't retried. The message names `security.addresses` and
    ///   the host.
    /// - A transport on an Apple platform can't judge addresses, so that each request fails with `.invalidRequest`.
    ///
    /// Together with other settings:
    ///
    /// - ``TransportConfiguration/proxy``: a proxy opens the connections to servers itself. Each request fails with
    ///   `.invalidRequest` if a proxy is set, or if the environment variables of the process specify one, unless you
    ///   write ``public(proxies:)``.
    /// - ``TransportConfiguration/unixSocketPath``: each request fails with `.invalidRequest`.
    /// - ``TransportConfiguration/connectTo``: the addresses in its values are judged.
    /// - ``TransportConfiguration/dnsOverHTTPS``: the addresses that the resolver returns are judged. The address of
    ///   the resolver isn't, but requests can't reach it.
    public struct Addresses: Sendable, Hashable, CustomStringConvertible {
        /// Whether requests may use a proxy, whose connections to servers the transport can't judge.
        public enum Proxies: Sendable, Hashable {
            /// Each request fails if there is a proxy.
            case refused
            /// The proxy decides which addresses requests can reach.
            case trusted
        }

        /// Any address. This is the default.
        public static let any = Addresses(refused: [], proxies: .trusted)

        /// Only public addresses, and no proxy. See ``public(proxies:)``.
        public static let `public` = Addresses.public(proxies: .refused)

        /// Only addresses that are reachable in the whole internet.
        ///
        /// These addresses are refused:
        ///
        /// - loopback, private, link-local, unique-local, site-local, shared (100.64.0.0/10), unspecified, multicast
        ///   and reserved addresses, and those for documentation, benchmarks and protocols (RFC 6890 and its
        ///   registries)
        /// - IPv6 addresses outside of 2000::/3, and the tunnels 6to4 (2002::/16) and Teredo (2001::/32)
        /// - 168.63.129.16, which leads to the host of a virtual machine in Azure
        ///
        /// An IPv6 address that stands for an IPv4 address (::ffff:0:0/96, and 64:ff9b::/96 of NAT64) is judged by the
        /// IPv4 address. The transport can't recognize a NAT64 prefix that your network has chosen itself, or a public
        /// address that belongs to your network.
        ///
        /// - Parameter proxies: `.trusted` allows the proxy in ``TransportConfiguration/proxy`` or in the environment.
        ///   The proxy must then refuse the addresses, because the transport doesn't judge requests that use it. All
        ///   requests use it: `no_proxy` has no effect, and with ``TransportConfiguration/Proxy/except(_:)``, each
        ///   request fails with `.invalidRequest`.
        public static func `public`(proxies: Proxies) -> Addresses {
            Addresses(refused: AddressRange.special, proxies: proxies)
        }

        /// The ranges whose addresses are refused. Empty if any address is allowed.
        let refused: [AddressRange]
        let proxies: Proxies

        var isRestricted: Bool { !refused.isEmpty }

        /// Returns whether a connection to an address may be opened. What isn't an IP address is allowed only if
        /// everything is.
        func allows(_ address: IPAddress?) -> Bool {
            guard let address else { return !isRestricted }
            return !refused.contains { $0.contains(address) }
        }

        /// `any`, `public` or `public(proxies: trusted)`.
        public var description: String {
            isRestricted ? proxies == .trusted ? "public(proxies: trusted)" : "public" : "any"
        }

        /// Returns the rule that the other settings of a transport violate.
        func brokenRule(for configuration: TransportConfiguration) -> String? {
            guard isRestricted else { return nil }
            if configuration.unixSocketPath != nil {
                return "security.addresses excludes unixSocketPath (use a different transport for the socket)"
            }
            let proxy = configuration.proxy
            let hasProxy = proxy.isInUse(isSecure: false) || proxy.isInUse(isSecure: true)
            if proxies == .refused, hasProxy {
                return "security.addresses excludes the proxy of the settings or the environment (set proxy to .direct)"
            }
            return proxy.exceptions.isEmpty ? nil : "security.addresses excludes exceptions of a trusted proxy"
        }
    }
}

/// An IP address, as the number that the bytes of an IPv6 address form. An IPv4 address is the number of the IPv6
/// address that stands for it (RFC 4291, 2.5.5.2).
struct IPAddress: Sendable, Hashable {
    let number: UInt128

    /// Creates an address from its 4 or 16 bytes. Returns nil for any other number of bytes.
    init?(bytes: some Collection<UInt8>) {
        guard [4, 16].contains(bytes.count) else { return nil }
        let number = bytes.reduce(bytes.count == 4 ? Self.mapped : 0) { $0 << 8 | UInt128($1) }
        self.number = number >> 32 == Self.translated ? Self.mapped << 32 | number & 0xFFFF_FFFF : number
    }

    /// Creates an address from its standard text, without brackets. Returns nil if the text isn't one.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        // The system writes 4 or 16 bytes.
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// The first 96 bits of IPv6 addresses that stand for IPv4 addresses: ::ffff:0:0/96, and 64:ff9b::/96 for NAT64
    /// (RFC 6052).
    static let (mapped, translated) = (UInt128(0xFFFF), UInt128(0x64_FF9B) << 64)
}

/// The addresses with the same first bits.
struct AddressRange: Sendable, Hashable {
    private let first: UInt128
    private let length: Int

    static func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, length: Int) -> AddressRange {
        let number = [a, b, c, d].reduce(IPAddress.mapped) { $0 << 8 | UInt128($1) }
        return AddressRange(first: number, length: 96 + length)
    }

    static func v6(_ a: UInt16, _ b: UInt16, length: Int) -> AddressRange {
        AddressRange(first: UInt128(a) << 112 | UInt128(b) << 96, length: length)
    }

    /// Returns whether an address is in the range. A range of IPv6 addresses doesn't contain those of IPv4.
    func contains(_ address: IPAddress) -> Bool {
        let isIPv4 = { (number: UInt128) in number >> 32 == IPAddress.mapped }
        return isIPv4(first) == isIPv4(address.number) && (first ^ address.number) >> (128 - length) == 0
    }

    /// The addresses that aren't reachable in the whole internet, from the registries of special addresses (RFC 6890).
    static let special = [
        v4(0, 0, 0, 0, length: 8), v4(10, 0, 0, 0, length: 8), v4(100, 64, 0, 0, length: 10),
        v4(127, 0, 0, 0, length: 8), v4(168, 63, 129, 16, length: 32), v4(169, 254, 0, 0, length: 16),
        v4(172, 16, 0, 0, length: 12), v4(192, 0, 0, 0, length: 24), v4(192, 0, 2, 0, length: 24),
        v4(192, 88, 99, 0, length: 24), v4(192, 168, 0, 0, length: 16), v4(198, 18, 0, 0, length: 15),
        v4(198, 51, 100, 0, length: 24), v4(203, 0, 113, 0, length: 24), v4(224, 0, 0, 0, length: 3),
        // Only 2000::/3 is assigned for global unicast (RFC 4291, 2.4).
        v6(0, 0, length: 3), v6(0x4000, 0, length: 2), v6(0x8000, 0, length: 1),
        v6(0x2001, 0, length: 23), v6(0x2001, 0xDB8, length: 32), v6(0x2002, 0, length: 16),
        v6(0x3FFF, 0, length: 20),
    ]
}
