// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import LetterheadFoundation

    /// The location of the authorities that the system trusts.
    ///
    /// The location that libcurl was built with may not exist, for example in a minimal container, or if a static
    /// program runs on a different distribution.
    struct CurlRoots {
        /// A file in PEM format, and a folder with a file for each authority, named by the hash of its subject.
        typealias Place = (file: String?, folder: String?)

        /// The location that was found. If it is nil, the setting of libcurl remains.
        let place: Place?
        /// The searched files, folders and variables, for an error message.
        let searched: String

        /// The authorities of this process. They are looked up once, after libcurl was initialized.
        static let system = CurlRoots(
            environment: ProcessInfo.trustedVariables, builtIn: builtIn,
            isFile: { unsafe access($0, R_OK) == 0 },
            isFolder: { (try? FileManager.default.contentsOfDirectory(atPath: $0))?.isEmpty == false })

        /// Uses the environment variables if one is set, otherwise the location that libcurl was built with if it
        /// exists, and otherwise the first known location that exists.
        ///
        /// - Parameters:
        ///   - environment: the environment variables.
        ///   - builtIn: the location that libcurl was built with.
        ///   - isFile: returns whether a file can be read.
        ///   - isFolder: returns whether a folder exists and isn't empty.
        init(
            environment: [String: String], builtIn: Place, isFile: (String) -> Bool, isFolder: (String) -> Bool
        ) {
            let variables = [Self.fileVariable, Self.folderVariable].map { environment[$0] ?? "" }
            guard variables.allSatisfy(\.isEmpty) else {
                // A variable is an instruction. If the file in it doesn't exist, other authorities must not replace it.
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

        /// The location that libcurl was built with, which it reports since 7.84.
        private static var builtIn: Place {
            guard let easy = unsafe curl_easy_init() else { return (nil, nil) }
            defer { unsafe curl_easy_cleanup(easy) }
            return unsafe (CurlHandle.text(.caInfo, of: easy), CurlHandle.text(.caPath, of: easy))
        }
    }

    extension TransportConfiguration.Security.Roots {
        /// The location of the trusted authorities and how to change it, for an error message.
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
