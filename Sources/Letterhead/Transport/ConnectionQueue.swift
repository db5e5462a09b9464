/// Decides which transfers may begin: no more at a time than there may be connections, in order of arrival at each origin.
///
/// Origins take turns when the limit for all of them is reached. An origin whose connections carry many transfers at a time has
/// no limit here. The transport asks ``next()`` whenever transfers have ended.
struct ConnectionQueue<Element> {
    /// The transfers to one origin. A class, because all of them refer to it.
    final class Lane {
        fileprivate let origin: String
        fileprivate var isExclusive: Bool
        fileprivate var underWay = 0
        fileprivate var waiting = WaitingLine<Element>()
        /// Whether it is in ``ConnectionQueue/ready``.
        fileprivate var isReady = false

        fileprivate init(_ origin: String, isExclusive: Bool) {
            self.origin = origin
            self.isExclusive = isExclusive
        }
    }

    /// The number under which a transfer waits.
    typealias Ticket = UInt64

    private let (mostPerOrigin, most): (Int, Int)
    private var lanes: [String: Lane] = [:]
    /// The lanes with waiting transfers and less than their own limit under way.
    private var ready = WaitingLine<Lane>()
    /// How many transfers are under way in exclusive lanes.
    private var underWay = 0
    private var lastTicket: Ticket = 0

    /// - Parameters:
    ///   - mostPerOrigin: how many transfers to one origin may be under way at a time.
    ///   - most: how many may be under way to all origins together.
    init(mostPerOrigin: Int, most: Int) {
        (self.mostPerOrigin, self.most) = (mostPerOrigin, most)
    }

    /// How many lanes are kept.
    var laneCount: Int { lanes.count }

    /// Returns the lane of an origin.
    ///
    /// - Parameter isExclusive: whether a connection carries one transfer at a time, for all that is known.
    mutating func lane(of origin: String, isExclusive: Bool) -> Lane {
        if let lane = lanes[origin] { return lane }
        let lane = Lane(origin, isExclusive: isExclusive)
        lanes[origin] = lane
        return lane
    }

    /// Takes a new transfer. Returns nil when it may begin, or its ticket when it must wait until ``next()`` returns it.
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

    /// Returns a waiting transfer that may begin now, which is then under way.
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

    /// Forgets a transfer: one that waits, by its ticket, or one that was under way.
    mutating func leave(_ lane: Lane, ticket: Ticket?) {
        if let ticket {
            _ = lane.waiting.leave(ticket)
        } else {
            lane.underWay -= 1
            if lane.isExclusive { underWay -= 1 }
            noteReady(lane)
        }
        if lanes.count > Self.mostIdle, lane.underWay == 0, lane.waiting.isEmpty { lanes[lane.origin] = nil }
    }

    /// Notes whether a connection to the origin carries one transfer at a time.
    mutating func note(isExclusive: Bool, in lane: Lane) {
        guard lane.isExclusive != isExclusive else { return }
        lane.isExclusive = isExclusive
        underWay += isExclusive ? lane.underWay : -lane.underWay
        noteReady(lane)
    }

    private func hasRoom(_ lane: Lane) -> Bool { !lane.isExclusive || lane.underWay < mostPerOrigin }

    private mutating func begin(in lane: Lane) {
        lane.underWay += 1
        if lane.isExclusive { underWay += 1 }
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

    /// How many lanes are kept at most although nothing is under way in them.
    private static var mostIdle: Int { 64 }
}
