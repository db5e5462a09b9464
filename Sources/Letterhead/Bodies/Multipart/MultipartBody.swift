public import Foundation

/// Several parts in one body (RFC 2046, 5.1): a form with files (RFC 7578), or another multipart type.
///
/// ```swift
/// MultipartBody([
///     .text("hi", name: "caption"),
///     .file(at: url, name: "avatar"),
/// ])
/// ```
///
/// The boundary is fixed for the value, so that every retry sends the same bytes. The length is exact whenever every
/// part knows its own. Files and streams are pulled while they are sent, never held and never copied.
///
/// A boundary of its own has 160 random bits, drawn when the content is there already: that a content holds it is not
/// possible in practice, and is not searched for. A boundary that was given is searched for in every content, and found
/// at the start of a line it is ``HTTPBodyError/invalid(_:file:)``.
public struct MultipartBody: HTTPBody {
    /// The parts, in order.
    public let parts: [MultipartPart]
    /// Which multipart type it is.
    public let kind: MultipartKind
    /// The boundary.
    public let boundary: String
    private let origin: Origin

    /// Where the boundary comes from, and so whether the contents must be searched for it.
    private enum Origin {
        case random, given, givenUnchecked
    }

    /// Makes a body with a boundary from the system's random source.
    ///
    /// What is wrong with a part is ``HTTPBodyError/invalid(_:file:)`` when the body is encoded, before anything is sent.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order; none is a body too.
    ///   - kind: which multipart type it is. Default: a form.
    public init(_ parts: [MultipartPart], kind: MultipartKind = .formData) {
        // In a box, because the thread sanitizer reads at the address of what is passed inout, and an empty type has none.
        var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
        self.init(parts, kind: kind, boundary: MultipartBoundary.random(using: &generator), origin: .random)
    }

    /// Makes a body with a boundary from a random source of your own, for bytes that can be foreseen.
    ///
    /// A boundary that occurs in a content that is in memory is not used; the next one is drawn.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - kind: which multipart type it is. Default: a form.
    ///   - generator: the random source.
    public init(
        _ parts: [MultipartPart], kind: MultipartKind = .formData, using generator: inout some RandomNumberGenerator
    ) {
        var boundary = MultipartBoundary.random(using: &generator)
        while Self.index(of: boundary, in: parts) != nil { boundary = MultipartBoundary.random(using: &generator) }
        self.init(parts, kind: kind, boundary: boundary, origin: .given)
    }

    /// Makes a body with a boundary of your own.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - kind: which multipart type it is. Default: a form.
    ///   - boundary: 1...70 letters, digits, spaces and `'()+_,-./:=?`, not ending with a space.
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` for another boundary, one that occurs in a content that is in memory, and a part that is
    ///   malformed.
    public init(_ parts: [MultipartPart], kind: MultipartKind = .formData, boundary: String) throws(HTTPBodyError) {
        try MultipartBody(parts, kind: kind, uncheckedBoundary: boundary).check()
        self.init(parts, kind: kind, boundary: boundary, origin: .given)
    }

    /// Makes a body with a boundary that is checked when the body is encoded, not here: for one that a template gives.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - kind: which multipart type it is. Default: a form.
    ///   - boundary: the boundary; nil for one from the system's random source.
    public init(_ parts: [MultipartPart], kind: MultipartKind = .formData, uncheckedBoundary boundary: String?) {
        if let boundary {
            self.init(parts, kind: kind, boundary: boundary, origin: .givenUnchecked)
        } else {
            self.init(parts, kind: kind)
        }
    }

    private init(_ parts: [MultipartPart], kind: MultipartKind, boundary: String, origin: Origin) {
        (self.parts, self.kind, self.boundary, self.origin) = (parts, kind, boundary, origin)
    }

    /// The same body with further parts at its end; kind and boundary stay.
    func adding(_ added: [MultipartPart]) -> MultipartBody {
        MultipartBody(
            parts + added, kind: kind, boundary: boundary, origin: origin == .random ? .random : .givenUnchecked)
    }

    /// The Content-Type with the boundary, and for related parts the type of the first one (RFC 2387, 3.1).
    public var additionalHeaders: HTTPHeaders {
        let isToken = ASCII.isToken(boundary)
        var type = "multipart/\(kind.rawValue); boundary=\(isToken ? boundary : "\"\(boundary)\"")"
        if kind == .related, let root = parts.first?.fields.type.flatMap({ MediaType($0) }) {
            type += "; type=\"\(root.essence)\""
        }
        return [.contentType: type]
    }

    /// Whether every part can be had again.
    public var isReplayable: Bool {
        parts.allSatisfy { if case .body(let body) = $0.content { body.isReplayable } else { true } }
    }

    /// Which member of a part's body has a type that the library does not read.
    public var _misfit: String? {
        for case .body(let body) in parts.lazy.map(\.content) { if let misfit = body._misfit { return misfit } }
        return nil
    }

    /// How many bytes it has; nil when a part does not know.
    public var contentLength: Int? { length(of: parts) }

    /// The whole body in memory, with files read in; ``chunks()`` does not need that.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` for a part that is malformed or cannot be sent, ``HTTPBodyError/notInMemory(type:)`` for a stream, and
    ///   what the body of a part throws.
    public func encode() throws -> Data {
        try check()
        let parts = try resolved { BodyChunks(try $0.encode()) }
        return MultipartWriter(boundary: boundary, parts, length: length(of: parts) ?? 0).data
    }

    /// The body from its first byte: in one piece when it is in memory and at most 1 MiB, else as its parts come.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` for a part that is malformed or cannot be sent, and what the body of a part throws.
    public func chunks() throws -> BodyChunks {
        try check()
        let parts = try resolved { try $0.chunks().held(to: $0.contentLength) }
        let length = length(of: parts)
        let isPulled = parts.contains { if case .pulled = $0.content { true } else { false } }
        if let length, !isPulled, length <= 1 << 20 {
            return BodyChunks(MultipartWriter(boundary: boundary, parts, length: length).data)
        }
        let walk = MultipartWalk(boundary: boundary, isSearched: isGiven, parts)
        return BodyChunks(length: length) { try await walk.next() }
    }

    /// Whether the boundary is a caller's, and must be looked for in the contents.
    var isGiven: Bool { origin != .random }

    /// Whether it was not yet looked for in those in memory.
    var isUnchecked: Bool { origin == .givenUnchecked }
}

extension MultipartBody: CustomStringConvertible, CustomReflectable {
    /// Its type, and the name and length of each part.
    public var description: String {
        "multipart/\(kind.rawValue): \(parts.map(\.description).joined(separator: ", "))"
    }

    /// The same only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}
