// SPDX-License-Identifier: MIT
/// Limits the number of simultaneous transfers to the allowed connections, for each origin and in total.
///
/// Transfers to one origin begin in order of arrival. If transfers to several origins wait, the origins take turns. The
/// limits don't apply to an origin with connections that carry several transfers at a time, as with HTTP/2. The
/// transport calls ``next()`` whenever transfers have ended.
struct ConnectionQueue<Element> {
    /// The queue of one origin, shared by all transfers to it.
    final class Lane {
        fileprivate let origin: String
        fileprivate(set) var isExclusive: Bool
        /// Whether the connection on which a transfer was last sent carries only one at a time.
        fileprivate(set) var isKnownExclusive = false
        fileprivate var underWay = 0
        fileprivate var waiting = WaitingLine<Element>()
        /// When a transfer to the origin last got a connection.
        var lastBegun: UInt64 = 0
        /// Whether the lane is in ``ConnectionQueue/ready``.
        fileprivate var isReady = false
        #if os(Linux)
            /// The idle direct connections to the origin. The one that was used last is the last.
            var idle: [DirectConnection] = []
        #endif

        fileprivate init(_ origin: String, isExclusive: Bool) {
            self.origin = origin
            self.isExclusive = isExclusive
        }
    }

    typealias Ticket = UInt64

    private let (mostPerOrigin, most): (Int, Int)
    private var lanes: [String: Lane] = [:]
    /// The lanes with waiting transfers that haven't reached the limit for their origin.
    private var ready = WaitingLine<Lane>()
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
        if lane.waiting.isEmpty, hasRoom(lane), underWay < most || !lane.isExclusive {
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
        while underWay < most, let lane = ready.next() {
            lane.isReady = false
            guard hasRoom(lane), let element = lane.waiting.next() else { continue }
            begin(in: lane)
            noteReady(lane)
            return element
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
        noteReady(lane)
    }

    /// Whether the limit for the origin allows a further transfer. A transfer that waits nevertheless waits for the
    /// total limit.
    func hasRoom(_ lane: Lane) -> Bool { !lane.isExclusive || lane.underWay < mostPerOrigin }

    private mutating func begin(in lane: Lane) {
        lane.underWay += 1
        if lane.isExclusive { underWay += 1 } else if lane.underWay == 1 { sharedLanes += 1 }
    }

    private mutating func noteReady(_ lane: Lane) {
        guard !lane.isReady, !lane.waiting.isEmpty, hasRoom(lane) else { return }
        lane.isReady = true
        ready.join(lane, at: newTicket(), priority: 0)
    }

    private mutating func newTicket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    /// If there are more lanes than this, a lane without transfers is removed.
    private static var mostIdle: Int { 64 }
}
