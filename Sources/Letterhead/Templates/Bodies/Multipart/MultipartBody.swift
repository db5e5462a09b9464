// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that consists of several parts (RFC 2046, 5.1): a form with files (RFC 7578), or another multipart type. To
/// add parts to a template instead of writing its body, use ``RequestTemplate/multipart(_:subtype:)``.
///
/// ```swift
/// MultipartBody([
///     .text("hi", name: "caption"),
///     .file(at: url, name: "avatar"),
/// ])
/// ```
///
/// The boundary of a value never changes, so every retry sends the same bytes. The length is exact if the lengths of
/// all parts are known. Files and streams are read in pieces while they are sent, unless ``encode()`` is called.
///
/// The subtype of the media type is one of these, or any other token:
///
/// - `form-data`: a form with files, in which every part has a name (RFC 7578). This is the default.
/// - `mixed`: independent parts in order (RFC 2046, 5.1.3).
/// - `alternative`: the same content in several formats, of which the last one is preferred (RFC 2046, 5.1.4).
/// - `related`: parts that refer to each other, of which the first one is the root (RFC 2387).
///
/// You need no boundary: by default, it consists of 160 random bits, so that no part can contain it by accident. If you
/// set a custom boundary or a custom random source, all parts are searched, and a part that contains the boundary at
/// the start of a line is ``HTTPBodyError/invalid(_:file:)``. There is one exception: with a custom random source, a
/// text or data part that contains the boundary causes another boundary to be created.
public struct MultipartBody: HTTPBody, SteadyBody {
    public let parts: [MultipartBody.Part]
    /// The subtype of the media type, such as `form-data`.
    public let subtype: String
    public let boundary: String
    private let origin: Origin

    /// The origin of the boundary, which determines whether the contents must be searched for it.
    private enum Origin {
        case random, given, givenUnchecked
    }

    /// Creates a body with a boundary from the system's random source.
    ///
    /// If the subtype or a part is malformed, encoding the body fails with ``HTTPBodyError/invalid(_:file:)``, before
    /// anything is sent.
    public init(_ parts: [MultipartBody.Part], subtype: String = "form-data") {
        // The generator is boxed, because the thread sanitizer reads the address of inout arguments, and a value
        // without stored properties has none.
        var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
        self.init(parts, subtype: subtype, boundary: MultipartBoundary.random(using: &generator), origin: .random)
    }

    /// Creates a body with a boundary from a custom random source, for reproducible bytes.
    ///
    /// If a text or data part contains the boundary, another boundary is created. If any other part contains it, such
    /// as a file, a stream or a JSON body, the body cannot be sent.
    public init(
        _ parts: [MultipartBody.Part], subtype: String = "form-data", using generator: inout some RandomNumberGenerator
    ) {
        var boundary = MultipartBoundary.random(using: &generator)
        while Self.index(of: boundary, in: parts) != nil { boundary = MultipartBoundary.random(using: &generator) }
        self.init(parts, subtype: subtype, boundary: boundary, origin: .given)
    }

    /// Creates a body with a custom boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending with a
    /// space.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the subtype, the boundary or a part is malformed, or if a part
    ///   in memory contains the boundary.
    public init(_ parts: [MultipartBody.Part], subtype: String = "form-data", boundary: String) throws(HTTPBodyError) {
        try MultipartBody(parts, subtype: subtype, uncheckedBoundary: boundary).check()
        self.init(parts, subtype: subtype, boundary: boundary, origin: .given)
    }

    /// Creates a body whose boundary is checked only when the body is encoded. Use it for the
    /// ``RequestTemplate/boundary`` of a template: nil creates a random one.
    public init(_ parts: [MultipartBody.Part], subtype: String = "form-data", uncheckedBoundary boundary: String?) {
        if let boundary {
            self.init(parts, subtype: subtype, boundary: boundary, origin: .givenUnchecked)
        } else {
            self.init(parts, subtype: subtype)
        }
    }

    private init(_ parts: [MultipartBody.Part], subtype: String, boundary: String, origin: Origin) {
        (self.parts, self.subtype, self.boundary, self.origin) = (parts, subtype, boundary, origin)
    }

    /// Whether the body is a form, in which every part has a name. A subtype is not case-sensitive (RFC 2046, 5.1).
    package var isForm: Bool { ASCII.lowercased(subtype) == "form-data" }

    /// Returns the same body with further parts at its end. The type and the boundary are kept.
    func adding(_ added: [MultipartBody.Part]) -> MultipartBody {
        MultipartBody(
            parts + added, subtype: subtype, boundary: boundary, origin: origin == .random ? .random : .givenUnchecked)
    }

    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> MultipartBody? {
        guard parts.contains(where: { $0.countInMemory == nil }) else { return nil }
        return MultipartBody(parts.map { $0.mapBody(change) }, subtype: subtype, boundary: boundary, origin: origin)
    }

    /// The Content-Type with the boundary. For related parts it also contains the type of the first part (RFC 2387,
    /// 3.1). Without a valid subtype, there is no Content-Type, because the body is refused before it is sent.
    public var additionalHeaders: HTTPHeaders {
        guard ASCII.isToken(subtype) else { return [:] }
        let isToken = ASCII.isToken(boundary)
        var type = "multipart/\(subtype); boundary=\(isToken ? boundary : "\"\(boundary)\"")"
        if ASCII.lowercased(subtype) == "related", let root = parts.first?.fields.type.flatMap({ MediaType($0) }) {
            type += "; type=\"\(root.essence)\""
        }
        return [.contentType: type]
    }

    public var isReplayable: Bool {
        parts.allSatisfy { if case .body(let body) = $0.content { body.isReplayable } else { true } }
    }

    /// The number of bytes; nil if the length of a part is not known.
    public var contentLength: Int? { length(of: parts) }

    /// Reads the whole body into memory, including its files. To read it in pieces, use ``chunks()``.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the subtype, the boundary or a part is malformed, or if a part
    ///   contains the boundary; ``HTTPBodyError/notInMemory(type:)`` for a stream, and the errors of the parts' bodies.
    public func encode() throws -> Data {
        try check()
        let parts = try resolved { BodyChunks(try $0.encode()) }
        return try MultipartWriter(boundary: boundary, parts, length: length(of: parts) ?? 0).data()
    }

    /// Returns the bytes of the body: in one piece if the body is in memory and has at most 1 MiB, otherwise in several
    /// pieces. Each call starts at the first byte.
    ///
    /// - Throws: the errors of ``encode()``, except that a stream is read.
    public func chunks() throws -> BodyChunks {
        try check()
        let parts = try resolved { try $0.chunks().held(to: $0.contentLength) }
        let length = length(of: parts)
        let isPulled = parts.contains { if case .pulled = $0.content { true } else { false } }
        if let length, !isPulled, length <= 1 << 20 {
            return BodyChunks(try MultipartWriter(boundary: boundary, parts, length: length).data())
        }
        let walk = MultipartWalk(boundary: boundary, isSearched: isGiven, parts)
        return BodyChunks(length: length) { try await walk.next() }
    }

    /// Whether the contents must be searched for the boundary, because it is not from the system's random source.
    var isGiven: Bool { origin != .random }

    /// Whether the contents in memory have not been searched for the custom boundary yet.
    var isUnchecked: Bool { origin == .givenUnchecked }
}

extension MultipartBody: CustomStringConvertible, CustomReflectable {
    /// The type of the body, and the name and length of each part.
    public var description: String {
        "multipart/\(subtype): \(parts.map(\.description).joined(separator: ", "))"
    }

    public var customMirror: Mirror { Mirror(describing: self) }
}

extension MultipartBody {
    /// Returns the parts, with each body replaced by its bytes, which a closure returns. If the boundary is custom, the
    /// bytes that are in memory are searched for it.
    func resolved(_ ask: (any HTTPBody) throws -> BodyChunks) throws -> [MultipartBody.Part] {
        guard parts.indices.contains(where: { parts[$0].countInMemory == nil }) else { return parts }
        return try parts.enumerated().map { index, part in
            guard case .body(let body) = part.content else { return part }
            return part.with(try chunks(of: body, at: index, ask))
        }
    }

    func length(of parts: [MultipartBody.Part]) -> Int? {
        let delimiter = boundary.utf8.count + 4
        var length = delimiter + 2
        for index in parts.indices {
            guard let count = parts[index].countInMemory ?? parts[index].contentLength else { return nil }
            length += delimiter + parts[index].fields.count + count + 2
        }
        return length
    }

    private func chunks(
        of body: any HTTPBody, at index: Int, _ ask: (any HTTPBody) throws -> BodyChunks
    ) throws -> BodyChunks {
        do {
            let chunks = try ask(body)
            var scanner = BoundaryScanner(boundary: boundary)
            if isGiven, let data = chunks.data, scanner.finds(in: data) { throw Self.boundaryInside(part: index) }
            return chunks
        } catch let error as HTTPBodyError {
            throw error.inside(part: index)
        }
    }
}

extension HTTPBodyError {
    /// Returns the same error with the number of the part in its message.
    func inside(part index: Int) -> HTTPBodyError {
        guard case .invalid(let message, let file) = self, !message.begins(with: "the boundary ") else { return self }
        return .invalid("part \(index + 1): \(message)", file: file)
    }
}

extension MultipartBody {
    /// Checks the body without opening any files.
    func check() throws(HTTPBodyError) {
        if !ASCII.isToken(subtype) {
            throw HTTPBodyError.invalid("the subtype of the multipart body is not a token of RFC 9110")
        }
        for index in parts.indices {
            if let rule = parts[index].fields.brokenRule {
                throw HTTPBodyError.invalid("part \(index + 1) is refused: \(rule)")
            }
            if isForm, !parts[index].fields.hasDisposition {
                throw HTTPBodyError.invalid(
                    "part \(index + 1) has no name, and the parts of a form need one (RFC 7578, 4.2)")
            }
        }
        if isUnchecked { try checkBoundary() }
    }

    /// Returns the index of the first part in memory that contains a boundary; nil if there is none.
    static func index(of boundary: String, in parts: [MultipartBody.Part]) -> Int? {
        parts.firstIndex { part in
            var scanner = BoundaryScanner(boundary: boundary)
            return switch part.content {
            case .text(let text): scanner.finds(in: Data(text.utf8))
            case .data(let data): scanner.finds(in: data)
            case .body, .pulled: false
            }
        }
    }

    static func boundaryInside(part index: Int) -> HTTPBodyError {
        HTTPBodyError.invalid("the boundary occurs in the content of part \(index + 1); use another or the default")
    }

    private func checkBoundary() throws(HTTPBodyError) {
        if let rule = MultipartBoundary.brokenRule(of: boundary) { throw HTTPBodyError.invalid(rule) }
        if let index = Self.index(of: boundary, in: parts) { throw Self.boundaryInside(part: index) }
    }
}
