/// The positions of the interpolated values in a path, from which its route is created: `users/{}/followers`.
///
/// Up to four unnamed values are stored inline, because most paths have fewer and building a request must not allocate
/// memory for them.
struct RequestRoute: Sendable {
    private struct Hole: Sendable {
        var start: Int
        var count: Int
        var name: String?
    }

    /// The start in the upper half and the length in the lower half; 0 for an unused slot.
    private var inline: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
    private var used: UInt8 = 0
    /// Whether the path was written as a literal, so that a route is known.
    private(set) var isKnown = false
    /// All values, if there are more than four, if one is named, or if one ends after the first 65,535 bytes.
    private var holes: [Hole] = []

    /// The route is not known.
    init() {}

    /// A literal without values.
    static var literal: RequestRoute {
        var route = RequestRoute()
        route.isKnown = true
        return route
    }

    /// Adds the position of a value.
    @inline(__always)
    mutating func add(from start: Int, to end: Int, name: String?) {
        isKnown = true
        if name == nil, holes.isEmpty, used < 4, end <= UInt16.max {
            let hole = UInt32(truncatingIfNeeded: start) << 16 | UInt32(truncatingIfNeeded: end - start)
            switch used {
            case 0: inline.0 = hole
            case 1: inline.1 = hole
            case 2: inline.2 = hole
            default: inline.3 = hole
            }
            used += 1
        } else {
            spill(Hole(start: start, count: end - start, name: name))
        }
    }

    private mutating func spill(_ hole: Hole) {
        holes = all + [hole]
        used = 0
    }

    private var all: [Hole] {
        if used == 0 { return holes }
        return [inline.0, inline.1, inline.2, inline.3].prefix(Int(used)).map {
            Hole(start: Int($0 >> 16), count: Int($0 & 0xFFFF), name: nil)
        }
    }

    /// Returns a path with its values replaced by `{}` or `{name}`.
    ///
    /// - Parameter text: the path as it was written, without the prefix of a base URL.
    func text(of text: String) -> String {
        var route: [UInt8] = []
        let bytes = Array(text.utf8)
        var position = 0
        for hole in all where hole.start >= position && hole.start + hole.count <= bytes.count {
            route += bytes[position..<hole.start]
            route += "{\(hole.name ?? "")}".utf8
            position = hole.start + hole.count
        }
        return String(decoding: route + bytes[position...], as: UTF8.self)
    }
}
