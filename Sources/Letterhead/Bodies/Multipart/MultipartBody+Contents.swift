import Foundation

extension MultipartBody {
    /// The parts with their bodies asked by a closure; what is then in memory is searched for a boundary that was given.
    func resolved(_ ask: (any HTTPBody) throws -> BodyChunks) throws -> [MultipartPart] {
        guard parts.indices.contains(where: { parts[$0].countInMemory == nil }) else { return parts }
        return try parts.enumerated().map { index, part in
            guard case .body(let body) = part.content else { return part }
            return part.with(try chunks(of: body, at: index, ask))
        }
    }

    /// How many bytes the body has with these parts; nil when one does not know.
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
    /// The same error, saying in which part of a multipart body it is.
    func inside(part index: Int) -> HTTPBodyError {
        guard case .invalid(let message, let file) = self, !message.hasPrefix("the boundary ") else { return self }
        return .invalid("part \(index + 1): \(message)", file: file)
    }
}
