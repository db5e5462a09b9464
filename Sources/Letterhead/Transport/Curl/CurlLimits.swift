#if os(Linux)
    /// The time limits of a configuration in nanoseconds; the largest number is none.
    struct CurlLimits {
        let firstByte: UInt64
        let idle: UInt64

        init(_ configuration: TransportConfiguration) {
            firstByte = configuration.firstByteTimeout?.wholeNanoseconds ?? .max
            idle = configuration.idleTimeout?.wholeNanoseconds ?? .max
        }
    }
#endif
