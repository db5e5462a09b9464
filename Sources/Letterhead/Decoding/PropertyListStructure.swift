import Foundation

/// Limits the depth and the size of a property list, in one pass, before Foundation's recursive parser reads it.
enum PropertyListStructure {
    static let maximumDepth = 512
    /// The maximum size of all decoded strings and data, as a multiple of the size of a binary document. Encoders write
    /// equal strings only once, so a list of equal dictionaries is larger when it is decoded.
    static let maximumGrowth = 32
    /// The size of decoded strings and data that every document may have in addition, in bytes.
    static let freeSize = 1 << 20

    /// - Throws: ``InvalidDocument`` with the rule. Other malformed parts are left to the parser.
    static func check(_ data: Data) throws(InvalidDocument) {
        let bytes = Array(data)
        if bytes.starts(with: "bplist".utf8) { return try BinaryPropertyList(bytes).check() }
        try checkXML(bytes)
    }

    static var tooDeep: InvalidDocument {
        InvalidDocument("the property list is nested more than \(maximumDepth) levels deep")
    }

    /// Counts every opening tag of a collection, but only those closing tags that cannot be part of a comment, a CDATA
    /// section or a processing instruction, so that the depth is never underestimated.
    private static func checkXML(_ bytes: [UInt8]) throws(InvalidDocument) {
        let encodings = ["utf-8", "us-ascii", "ascii", "iso-8859-1"]
        guard !bytes.contains(0), encoding(of: bytes).map({ encodings.contains($0) }) ?? true else {
            throw InvalidDocument("the property list has an encoding other than UTF-8")
        }
        var (depth, index) = (0, 0)
        // The delimiter that ends the comment, CDATA section or processing instruction that the parser may be inside
        // of.
        var hidden: String?
        while let open = bytes[index...].firstIndex(where: { $0 == UInt8(ascii: "<") || hidden?.utf8.first == $0 }) {
            let rest = bytes[open...]
            index = open + 1
            if let end = hidden, rest.starts(with: end.utf8) {
                hidden = nil
            } else if starts(rest, ["<array", "<dict"]) {
                // The search ends at the next tag, so that no byte is searched twice.
                let end = rest.dropFirst().firstIndex { "<>".utf8.contains($0) } ?? bytes.count
                if end < bytes.count, bytes[end] == UInt8(ascii: ">"), bytes[end - 1] == UInt8(ascii: "/") { continue }
                depth += 1
                guard depth <= maximumDepth else { throw tooDeep }
            } else if hidden == nil {
                if starts(rest, ["</array", "</dict"]) { depth = max(0, depth - 1) }
                hidden = hiddenEnd(rest)
            }
        }
    }

    private static func hiddenEnd(_ rest: ArraySlice<UInt8>) -> String? {
        if rest.starts(with: "<!--".utf8) { return "-->" }
        if rest.starts(with: "<![CDATA[".utf8) { return "]]>" }
        return rest.starts(with: "<?".utf8) ? "?>" : nil
    }

    private static func starts(_ rest: ArraySlice<UInt8>, _ tags: [String]) -> Bool {
        tags.contains { rest.starts(with: $0.utf8) }
    }

    /// Returns the encoding in the XML declaration, in lower case.
    private static func encoding(of bytes: [UInt8]) -> String? {
        let declaration = String(decoding: bytes.prefix(256).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        guard let name = declaration.range(of: "encoding") else { return nil }
        let value = declaration[name.upperBound...].drop { " \t\r\n=".contains($0) }
        guard let quote = value.first else { return nil }
        return ASCII.lowercased(String(value.dropFirst().prefix { $0 != quote }))
    }
}

/// The objects of a binary property list and their references to each other.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsets: [Int]
    private let top: Int
    private let referenceSize: Int

    init(_ bytes: [UInt8]) throws(InvalidDocument) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else { throw Self.malformed }
        self.bytes = bytes
        func number(_ index: Int, _ size: Int) -> Int? { Self.number(bytes, index, size) }
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = number(trailer + 8, 8),
            let top = number(trailer + 16, 8), let table = number(trailer + 24, 8), count > 0, top < count,
            table <= trailer, count <= (trailer - table) / offsetSize
        else { throw Self.malformed }
        self.top = top
        offsets = (0..<count).map { number(table + $0 * offsetSize, offsetSize) ?? .max }
    }

    /// Follows the references from the top object.
    ///
    /// - Throws: an error if a collection is referenced twice, or if collections share bytes so that there are more
    ///   references than bytes: the tree would be larger than the document. The same applies if strings and data with
    ///   many references would require far more memory than the document.
    func check() throws(InvalidDocument) {
        var isSeen = [Bool](repeating: false, count: offsets.count)
        var pending = [(object: top, depth: 1)]
        var total = 0
        var decodedSize = 0
        while let (object, depth) = pending.popLast() {
            let (first, count) = try references(of: object)
            decodedSize += size(of: object)
            guard decodedSize <= PropertyListStructure.maximumGrowth * bytes.count + PropertyListStructure.freeSize
            else {
                throw InvalidDocument("the property list references its strings or data too often")
            }
            guard count > 0 else { continue }
            guard depth <= PropertyListStructure.maximumDepth else { throw PropertyListStructure.tooDeep }
            total += count
            guard !isSeen[object], total <= bytes.count else {
                throw InvalidDocument("the property list references one collection more than once")
            }
            isSeen[object] = true
            for place in 0..<count { pending.append((try reference(at: first + place * referenceSize), depth + 1)) }
        }
    }

    private static var malformed: InvalidDocument { InvalidDocument("the binary property list is malformed") }

    /// Returns the references of an object; none if it is not a collection.
    private func references(of object: Int) throws(InvalidDocument) -> (first: Int, count: Int) {
        let start = offsets[object]
        guard start < bytes.count else { throw Self.malformed }
        let kind = bytes[start] >> 4
        guard (0xA...0xD).contains(kind) else { return (start, 0) }
        guard let (length, first) = length(at: start), length <= (bytes.count - first) / referenceSize else {
            throw Self.malformed
        }
        let count = kind == 0xD ? length * 2 : length
        guard count <= (bytes.count - first) / referenceSize else { throw Self.malformed }
        return (first, count)
    }

    /// Returns the size of a string or data in bytes; zero for all other objects, which are small.
    private func size(of object: Int) -> Int {
        let start = offsets[object]
        switch bytes[start] >> 4 {
        case 4, 5, 7: return length(at: start)?.count ?? 0
        case 6: return 2 * (length(at: start)?.count ?? 0)
        default: return 0
        }
    }

    private func reference(at index: Int) throws(InvalidDocument) -> Int {
        guard let object = Self.number(bytes, index, referenceSize), object < offsets.count else {
            throw Self.malformed
        }
        return object
    }

    /// Returns the number of elements in a collection, and the index of the first one.
    private func length(at start: Int) -> (count: Int, first: Int)? {
        let short = Int(bytes[start] & 0xF)
        guard short == 0xF else { return (short, start + 1) }
        guard start + 1 < bytes.count, bytes[start + 1] >> 4 == 1 else { return nil }
        let size = 1 << Int(bytes[start + 1] & 0xF)
        guard size <= 8, let count = Self.number(bytes, start + 2, size), count <= bytes.count else { return nil }
        return (count, start + 2 + size)
    }

    /// Reads an unsigned big-endian number; nil if it does not fit or is incomplete.
    private static func number(_ bytes: [UInt8], _ index: Int, _ size: Int) -> Int? {
        guard index >= 0, size <= bytes.count, index <= bytes.count - size else { return nil }
        return Int(exactly: bytes[index..<(index + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
