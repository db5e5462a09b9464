#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension ServerConnection {
    #if canImport(Darwin)
        /// `POLLHUP` reports that the client has closed its side, if any event is requested.
        private static let peerEnded = Int16(POLLHUP)
    #else
        private static let peerEnded = Int16(0x2000)  // POLLRDHUP, which the headers define only with a feature macro
    #endif

    /// The events to wait for; nil if the connection does not need to be polled.
    var pollEvents: Int16? {
        switch (state, hold) {
        case (.closed, _): return nil
        case (.open, .stall): return Self.peerEnded
        case (.open, .pause): return 0
        case (.draining, _): return Int16(POLLIN)
        case (.open, nil):
            let events = (wantsInput ? Int16(POLLIN) : 0) | (isBlocked ? Int16(POLLOUT) : 0)
            #if canImport(Darwin)
                // A client that has closed its side would be reported forever.
                if events == 0, inputEnded { return nil }
            #endif
            return events
        }
    }

    /// Handles the events that `poll` reports.
    func ready(_ events: Int16) {
        let isOver = events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        let cannotRead = hold != nil || state == .open && !wantsInput && !isBlocked
        if isOver && cannotRead || hold != nil && events & Self.peerEnded != 0 { return close(.byClient) }
        advance()
    }
}
