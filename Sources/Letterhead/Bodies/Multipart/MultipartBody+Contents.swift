import Foundation

extension MultipartBody {
    /// Returns the parts, with each body replaced by its bytes, which a closure returns. If the boundary is custom, the
    /// bytes that are in memory are searched for it.
    func resolved(_ ask: (any HTTPBody) throws -> BodyChunks) throws -> [MultipartPart] {
        guard parts.indices.contains(where: { parts[$0].countInMemory == nil }) else { return parts }
        return try parts.enumerated().map { index, part in
            guard case .body(let body) = part.content else { return part }
            return part.with(try chunks(of: body, at: index, ask))
        }
    }

    /// Returns the number of bytes of the body with these parts; nil if the length of a part is not known.
    func length(of parts: [MultipartPart]) -> Int? {
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
    static func index(of boundary: String, in parts: [MultipartPart]) -> Int? {
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
