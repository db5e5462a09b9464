// SPDX-License-Identifier: MIT
// Made by Tests/Fixtures/make-certificates. Do not edit.

/// Certificates and keys in PEM, for TLS on a loopback socket. They guard nothing.
package enum Certificates {
    /// The hash of ``authority``'s subject, which names its file in a folder of authorities.
    package static let authorityHash = "445079e4"

    /// The authority that signed all but ``selfSigned``.
    package static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBjjCCATSgAwIBAgIUHZ9s6MW5hpvXdOKTP8zJfseK2CAwCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowJDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0
        ZXN0IGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKSDto4yYhz8
        aRqU9G8sWU7TNLJkpZF8R8cbmLH7KsoeF3KR4QYcMA8TCpQXynM85XaT+/Xbddhb
        0mcSG6Wb5SqjQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMB0G
        A1UdDgQWBBR86iZI8tnbc1cLWfJW4+yB5JAz6zAKBggqhkjOPQQDAgNIADBFAiEA
        irOgthBzQ8HznE0AhJRms45kLCVFOiqPVCv46+VpcccCIFZFHrEh3zy7jRt117aS
        10NJt+zfwiwVTlNRv2Jvwrgs
        -----END CERTIFICATE-----
        """

    /// For localhost, 127.0.0.1 and ::1, good until 2120.
    package static let valid = """
        -----BEGIN CERTIFICATE-----
        MIIB4jCCAYegAwIBAgIUegEszntN/OwJAEIHshnWB8slEx8wCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkw
        EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECfmGa4RSRa7g3XGJIZ4fjxCbedFLNd5m
        TjG3q94/LIjkY6kfA+sZuFKW5tnyE3T18ozVuvuKmEBlVGbMMVTsAqOBpDCBoTAM
        BgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcD
        ATAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAAAAAAAAAAAAEw
        HQYDVR0OBBYEFNWyCSB5QFJ5vOfiyjSqlbD4QtUXMB8GA1UdIwQYMBaAFHzqJkjy
        2dtzVwtZ8lbj7IHkkDPrMAoGCCqGSM49BAMCA0kAMEYCIQDm2M9KAOInxMFZt87Y
        z7ttTBiPn31Bjg1VV0QY36Yn9wIhAOybtBQOQ/UYrYUXmSvKH7ewqV5cdXtvR+Ch
        IR0+De1t
        -----END CERTIFICATE-----
        """

    /// The key of ``valid``.
    package static let validKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIPr5ZbMTOCUpWEQ9
        wmx4wmHY5ieAJvJN2ySmoIS0kLGhRANCAAQJ+YZrhFJFruDdcYkhnh+PEJt50Us1
        3mZOMber3j8siORjqR8D6xm4Upbm2fITdPXyjNW6+4qYQGVUZswxVOwC
        -----END PRIVATE KEY-----
        """

    /// The SHA-256 of the public key of ``valid``, in base 64.
    package static let validPin = "Jx6JdJSf2MgzGxXpB5nZm1MbVngkA2nDLcXSJdiuA4g="

    /// As ``valid``, but good until January 2020 only.
    package static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIB3zCCAYWgAwIBAgIUIMP1LfKIuw4KPnvKRuRUnu9cBr4wCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0ZXN0IGF1dGhvcml0eTAeFw0yMDAxMDEw
        MDAwMDBaFw0yMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
        ByqGSM49AgEGCCqGSM49AwEHA0IABLDvkUeakvg7EvieX4C/PqdqhDKHfhsEUy/6
        0pHngyMPACf0kFiL7dpHITqCft6lT7ayrtSTT+KyfIdeCAuBPxGjgaQwgaEwDAYD
        VR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEw
        LAYDVR0RBCUwI4IJbG9jYWxob3N0hwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMB0G
        A1UdDgQWBBRlosXbXJQwoVmK3DUJWesPeoGHHzAfBgNVHSMEGDAWgBR86iZI8tnb
        c1cLWfJW4+yB5JAz6zAKBggqhkjOPQQDAgNIADBFAiEA7Qe/+F2NHb6rlxinH1/e
        4xTw5ON/8D14z6DcnciZGqQCIAyrB8qFAUGVvbzbUEATdxRSPxH+jSc61T89Ghxf
        m/kj
        -----END CERTIFICATE-----
        """

    /// The key of ``expired``.
    package static let expiredKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZnmDdhmPTNHczB+6
        vgmijIY1X3AZwuD4g22cyRsCrVihRANCAASw75FHmpL4OxL4nl+Avz6naoQyh34b
        BFMv+tKR54MjDwAn9JBYi+3aRyE6gn7epU+2sq7Uk0/isnyHXggLgT8R
        -----END PRIVATE KEY-----
        """

    /// For elsewhere.test, good until 2120.
    package static let wrongHost = """
        -----BEGIN CERTIFICATE-----
        MIIB0zCCAXmgAwIBAgIUK0tXNyyN707yci20uupS5P+ILCQwCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGTEXMBUGA1UEAwwOZWxzZXdoZXJlLnRl
        c3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASUACBndlxy6qkJDCT/SxmtDClg
        1bQ97m8uUko9Hc2VNOsa8e1lHtZBO4/BdtHQqEfHQx9I+QVZgESHdjZguWGRo4GR
        MIGOMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsG
        AQUFBwMBMBkGA1UdEQQSMBCCDmVsc2V3aGVyZS50ZXN0MB0GA1UdDgQWBBR92zeH
        2faTzEPjyRghkUQZz/92kTAfBgNVHSMEGDAWgBR86iZI8tnbc1cLWfJW4+yB5JAz
        6zAKBggqhkjOPQQDAgNIADBFAiBJi5YvEQ2mt5Yjl+KwgpqbrDA2pJirQOWWqmyd
        uAdS8gIhAJd1ubGzovg6cMG84e6lUUuPbiPeuuWdcdd9toYdsQXC
        -----END CERTIFICATE-----
        """

    /// The key of ``wrongHost``.
    package static let wrongHostKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOU9NhCoSZvVCUjbz
        0h9DEmuNGdsLsYV/LJEDces9yKihRANCAASUACBndlxy6qkJDCT/SxmtDClg1bQ9
        7m8uUko9Hc2VNOsa8e1lHtZBO4/BdtHQqEfHQx9I+QVZgESHdjZguWGR
        -----END PRIVATE KEY-----
        """

    /// As ``valid``, signed by itself.
    package static let selfSigned = """
        -----BEGIN CERTIFICATE-----
        MIIBsDCCAVagAwIBAgIUccuoFNA+LB2/BEZlnJNXHsKccFEwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASJcajx+40EHSUPZCV2IqvNKKMika5Qj3TWgYWII8h4LYDJaNLZTQcv
        fPHdlv7brRdowjH/fF5G5bCAweyJxqTXo4GDMIGAMAwGA1UdEwEB/wQCMAAwDgYD
        VR0PAQH/BAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMCwGA1UdEQQlMCOCCWxv
        Y2FsaG9zdIcEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATAdBgNVHQ4EFgQU1cYppDJS
        HDtKsjB6pxhZE+3qqCAwCgYIKoZIzj0EAwIDSAAwRQIhAILQPyXzC6yF16hAA5Xx
        4gwA1l0EGTdj+PfRLCsGEXybAiAtIhXzdCzJ7WfpQ/PNmuPtDUDhlVK5y4gYZ/wf
        0U0e/g==
        -----END CERTIFICATE-----
        """

    /// The key of ``selfSigned``.
    package static let selfSignedKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHHHOKovMT4tETMOG
        B6CRnoEfKa3gaA40T7pi+dESqGehRANCAASJcajx+40EHSUPZCV2IqvNKKMika5Q
        j3TWgYWII8h4LYDJaNLZTQcvfPHdlv7brRdowjH/fF5G5bCAweyJxqTX
        -----END PRIVATE KEY-----
        """

    /// For a client, good until 2120.
    package static let client = """
        -----BEGIN CERTIFICATE-----
        MIIBvjCCAWSgAwIBAgIUU8JoIJrMeM06kIGkRq9KECYd778wCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZTGV0dGVyaGVhZCB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowITEfMB0GA1UEAwwWTGV0dGVyaGVhZCB0
        ZXN0IGNsaWVudDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEwp7BIsMR6q9L+a
        taUwGUuN4P8YADlLodPd75etoqHIuq1W+NcjlzqMYW6AofzTMai0SUP+UeKqsNf4
        uTSCMSujdTBzMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQM
        MAoGCCsGAQUFBwMCMB0GA1UdDgQWBBQV+35zBHboUtM9TY+C0p17FcDgDDAfBgNV
        HSMEGDAWgBR86iZI8tnbc1cLWfJW4+yB5JAz6zAKBggqhkjOPQQDAgNIADBFAiAU
        dq+608f8z6TZw2RRNQDkpnqqSX+85E6kgq6TZ9D9KwIhAM1h5S5u84ekNnU8wvjq
        tDQAwEndGHdxQnfCqPezB2DO
        -----END CERTIFICATE-----
        """

    /// The key of ``client``.
    package static let clientKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRk7RZd3jVelkMJVR
        u9JKon62HkKJuoaRoT2vBaICJ4GhRANCAARMKewSLDEeqvS/mrWlMBlLjeD/GAA5
        S6HT3e+XraKhyLqtVvjXI5c6jGFugKH80zGotElD/lHiqrDX+Lk0gjEr
        -----END PRIVATE KEY-----
        """
}
