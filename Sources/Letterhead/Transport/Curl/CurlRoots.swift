// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// Where the system's trusted authorities are.
    ///
    /// The place that libcurl was built with may be absent, for example in a minimal container, or if a static program
    /// runs on another distribution.
    struct CurlRoots {
        /// A file in PEM format, and a folder with a file for each authority, named by its subject's hash.
        typealias Place = (file: String?, folder: String?)

        /// Nil if nothing was found. libcurl's own setting then remains.
        let place: Place?
        /// What was looked at, for an error's message.
        let searched: String

        /// The authorities of this process. They are looked up once, after libcurl was initialized.
        static let system = CurlRoots(
            environment: ProcessInfo.trustedVariables, builtIn: builtIn,
            isFile: { unsafe access($0, R_OK) == 0 },
            isFolder: { (try? FileManager.default.contentsOfDirectory(atPath: $0))?.isEmpty == false })

        /// Uses the environment's variables if one is set, otherwise libcurl's own places if one exists, and otherwise
        /// the first known place that exists.
        ///
        /// - Parameters:
        ///   - environment: the environment's variables.
        ///   - builtIn: the places that libcurl was built with.
        ///   - isFile: returns whether a file can be read.
        ///   - isFolder: returns whether a folder exists and isn't empty.
        init(
            environment: [String: String], builtIn: Place, isFile: (String) -> Bool, isFolder: (String) -> Bool
        ) {
            let variables = [Self.fileVariable, Self.folderVariable].map { environment[$0] ?? "" }
            guard variables.allSatisfy(\.isEmpty) else {
                // A variable is an instruction. If it names nothing, other authorities must not replace it.
                let named = variables.map { $0.isEmpty ? nil : $0 }
                place = (named[0], named[1])
                searched = zip([Self.fileVariable, Self.folderVariable], variables).filter { !$1.isEmpty }
                    .map { "\($0)=\($1)" }.joined(separator: " and ")
                return
            }
            let candidates: [Place] =
                [builtIn] + Self.knownFiles.map { ($0, nil) } + Self.knownFolders.map { (nil, $0) }
            var looked: [String] = []
            for candidate in candidates {
                let found = (
                    candidate.file.flatMap { isFile($0) ? $0 : nil },
                    candidate.folder.flatMap { isFolder($0) ? $0 : nil }
                )
                if found != (nil, nil) {
                    place = found
                    searched = [found.0, found.1].compactMap(\.self).joined(separator: " and ")
                    return
                }
                for path in [candidate.file, candidate.folder].compactMap(\.self) where !looked.contains(path) {
                    looked.append(path)
                }
            }
            place = nil
            searched = looked.joined(separator: ", ")
        }

        private static let (fileVariable, folderVariable) = ("SSL_CERT_FILE", "SSL_CERT_DIR")

        /// The bundles of Debian and Alpine, Fedora and Red Hat, SUSE, and older releases.
        private static let knownFiles = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
            "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
            "/etc/ssl/cert.pem",
        ]
        private static let knownFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

        /// The places that libcurl was built with, which it reports since 7.84.
        private static var builtIn: Place {
            guard let easy = unsafe curl_easy_init() else { return (nil, nil) }
            defer { unsafe curl_easy_cleanup(easy) }
            return unsafe (CurlHandle.text(.caInfo, of: easy), CurlHandle.text(.caPath, of: easy))
        }
    }

    extension TransportConfiguration.Security.Roots {
        /// The trusted authorities' place and the setting, for an error's message.
        var advice: String {
            let place =
                switch self {
                case .system: CurlRoots.system.searched
                case .file(let url): url.path
                case .pem: "security.roots"
                }
            let found = self != .system || CurlRoots.system.place != nil
            return found
                ? "the trusted authorities are from \(place), and to trust others, set security.roots"
                : "no trusted authorities were found in \(place), so set security.roots or SSL_CERT_FILE"
        }
    }
#endif
