// SPDX-License-Identifier: MIT
/// Certificates and a key in PEM, for TLS on a loopback socket. They guard nothing.
enum Certificates {
    /// The authority that signed ``valid``.
    static let authority = """
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
    static let valid = """
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
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIPr5ZbMTOCUpWEQ9
        wmx4wmHY5ieAJvJN2ySmoIS0kLGhRANCAAQJ+YZrhFJFruDdcYkhnh+PEJt50Us1
        3mZOMber3j8siORjqR8D6xm4Upbm2fITdPXyjNW6+4qYQGVUZswxVOwC
        -----END PRIVATE KEY-----
        """
}
