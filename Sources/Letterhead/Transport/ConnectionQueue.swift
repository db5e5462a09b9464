// SPDX-License-Identifier: MIT
/// Limits the number of simultaneous transfers to the allowed connections, for each origin and in total.
///
/// Transfers to one origin begin in order of arrival. If transfers to several origins wait, the origins take turns. An
/// origin with connections that carry several transfers at a time, as with HTTP/2, has no limit, and counts as one
/// connection. The transport calls ``next()`` whenever transfers have arrived or ended.
struct ConnectionQueue<Element> {
    typealias Ticket = UInt64

    /// The queue of one origin, shared by all transfers to it.
    final class Lane {
        fileprivate let origin: String
        fileprivate(set) var isExclusive: Bool
        /// Whether the connection on which a transfer was last sent carries only one at a time.
        fileprivate(set) var isKnownExclusive = false
        fileprivate(set) var underWay = 0
        fileprivate var waiting = WaitingLine<Element>()
        /// When a transfer to the origin last got a connection.
        var lastBegun: UInt64 = 0
        /// The place of the lane in one of the queue's lines, or nil.
        fileprivate var place: Ticket?
        /// Whether the next transfer needs no further connection.
        fileprivate var isSharing: Bool { !isExclusive && underWay > 0 }
        #if os(Linux)
            /// The idle direct connections to the origin. The one that was used last is the last.
            var idle: [DirectConnection] = []
        #endif

        fileprivate init(_ origin: String, isExclusive: Bool) {
            self.origin = origin
            self.isExclusive = isExclusive
        }
    }

    private let (mostPerOrigin, most): (Int, Int)
    private var lanes: [String: Lane] = [:]
    /// The lanes with waiting transfers that haven't reached the limit for their origin: those whose next transfer needs
    /// a connection, and the others.
    private var (ready, sharing) = (WaitingLine<Lane>(), WaitingLine<Lane>())
    /// The number of transfers in progress in all exclusive lanes.
    private(set) var underWay = 0
    /// The number of other lanes with transfers in progress. Each has at least one connection.
    private(set) var sharedLanes = 0
    private var lastTicket: Ticket = 0

    init(mostPerOrigin: Int, most: Int) {
        (self.mostPerOrigin, self.most) = (mostPerOrigin, most)
    }

    var laneCount: Int { lanes.count }

    /// Returns the lane of an origin, creating it if necessary.
    ///
    /// - Parameters:
    ///   - origin: identifies the lane.
    ///   - isExclusive: whether a connection to a new origin is assumed to carry only one transfer at a time.
    ///     ``note(isExclusive:in:)`` corrects it.
    mutating func lane(of origin: String, isExclusive: Bool) -> Lane {
        if let lane = lanes[origin] { return lane }
        let lane = Lane(origin, isExclusive: isExclusive)
        lanes[origin] = lane
        return lane
    }

    /// Adds a transfer. If it may begin immediately, returns nil. If it must wait until ``next()`` returns it, returns
    /// its ticket.
    mutating func enter(_ lane: Lane, _ element: Element) -> Ticket? {
        if lane.waiting.isEmpty, hasRoom(lane), lane.isSharing || ready.isEmpty && hasConnection {
            begin(in: lane)
            return nil
        }
        let ticket = newTicket()
        lane.waiting.join(element, at: ticket, priority: 0)
        noteReady(lane)
        return ticket
    }

    /// Returns a waiting transfer that may begin now, and counts it as in progress. Returns nil if no transfer may.
    mutating func next() -> Element? {
        while let lane = sharing.next() ?? (hasConnection ? ready.next() : nil) {
            lane.place = nil
            let mayBegin = hasRoom(lane) && (lane.isSharing || hasConnection)
            let element = mayBegin ? lane.waiting.next() : nil
            if element != nil { begin(in: lane) }
            noteReady(lane)
            if let element { return element }
        }
        return nil
    }

    /// Removes a transfer: the waiting transfer with the ticket, or one in progress if the ticket is nil.
    mutating func leave(_ lane: Lane, ticket: Ticket?) {
        if let ticket {
            _ = lane.waiting.leave(ticket)
        } else {
            lane.underWay -= 1
            if lane.isExclusive { underWay -= 1 } else if lane.underWay == 0 { sharedLanes -= 1 }
            noteReady(lane)
        }
        removeIfUnused(lane)
    }

    /// Removes a lane without transfers and connections if there are many lanes.
    mutating func removeIfUnused(_ lane: Lane) {
        guard lanes.count > Self.mostIdle, lane.underWay == 0, lane.waiting.isEmpty else { return }
        #if os(Linux)
            guard lane.idle.isEmpty else { return }
        #endif
        lanes[lane.origin] = nil
    }

    /// Records whether a connection to the origin carries only one transfer at a time.
    mutating func note(isExclusive: Bool, in lane: Lane) {
        lane.isKnownExclusive = isExclusive
        guard lane.isExclusive != isExclusive else { return }
        lane.isExclusive = isExclusive
        underWay += isExclusive ? lane.underWay : -lane.underWay
        if lane.underWay > 0 { sharedLanes += isExclusive ? -1 : 1 }
        if let place = lane.place {
            _ = ready.leave(place) ?? sharing.leave(place)
            lane.place = nil
        }
        noteReady(lane)
    }

    /// Whether the limit for the origin allows a further transfer. A transfer that waits nevertheless waits for the
    /// total limit.
    func hasRoom(_ lane: Lane) -> Bool { !lane.isExclusive || lane.underWay < mostPerOrigin }

    /// Whether the total limit allows a further connection.
    private var hasConnection: Bool { underWay + sharedLanes < most }

    private mutating func begin(in lane: Lane) {
        lane.underWay += 1
        if lane.isExclusive { underWay += 1 } else if lane.underWay == 1 { sharedLanes += 1 }
    }

    private mutating func noteReady(_ lane: Lane) {
        guard lane.place == nil, !lane.waiting.isEmpty, hasRoom(lane) else { return }
        let place = newTicket()
        lane.place = place
        if lane.isSharing {
            sharing.join(lane, at: place, priority: 0)
        } else {
            ready.join(lane, at: place, priority: 0)
        }
    }

    private mutating func newTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    /// If there are more lanes than this, a lane without transfers is removed.
    private static var mostIdle: Int { 64 }
}
