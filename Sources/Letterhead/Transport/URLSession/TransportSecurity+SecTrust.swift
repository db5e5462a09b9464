// SPDX-License-Identifier: MIT
#if canImport(Darwin)
    import Foundation
    import Security

    extension URLSessionExchange {
        /// Returns whether the pinned keys and the checks of the configuration allow the server of a challenge. Otherwise,
        /// the request fails. They do not apply to a proxy.
        func mayConnect(to space: URLProtectionSpace) -> Bool {
            if space.isProxy() { return true }
            do throws(TransportFailure) {
                // The host of the challenge has no brackets around an IPv6 address.
                try configuration.security.check(space.serverTrust, of: request.host ?? space.host)
                return true
            } catch {
                fail(error.error(for: request))
                return false
            }
        }
    }

    extension TransportConfiguration.Security {
        /// Throws unless a server has a pinned key and passes the checks, if there are any. They add to the evaluation of
        /// the system, which comes first.
        fileprivate func check(_ trust: SecTrust?, of host: String) throws(TransportFailure) {
            let pins = pinnedKeys(of: host)
            if pins.isEmpty, checks.isEmpty { return }
            var reason: CFError?
            guard let trust, SecTrustEvaluateWithError(trust, &reason) else {
                throw TransportFailure(
                    .insecureConnection, "the server's certificate is not trusted", mayHaveBeenSent: false,
                    underlying: reason.map { $0 as any Error })
            }
            let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            let chain = certificates.map { SecCertificateCopyData($0) as Data }
            let key = chain.first.flatMap(PublicKeyPin.digest)
            guard pins.isEmpty || key.map(pins.contains) == true else {
                let text = key.map(PublicKeyPin.text) ?? "not known"
                throw TransportFailure(
                    .insecureConnection,
                    "the public key of the server does not match the pinned keys "
                        + "(\(pinningRule(of: host)) for \(host); the key of the server is \(text))",
                    mayHaveBeenSent: false)
            }
            try check(chain, of: host)
        }
    }
#endif
