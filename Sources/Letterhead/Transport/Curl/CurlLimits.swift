#if os(Linux)
    /// The limits of a configuration that are looked at often: times in nanoseconds, of which the largest number is none.
    struct CurlLimits {
        let firstByte: UInt64
        /// In bytes.
        let headSize: Int

        init(_ configuration: TransportConfiguration) {
            firstByte = configuration.firstByteTimeout?.wholeNanoseconds ?? .max
            headSize = configuration.maximumHeadSize
        }
    }
#endif
