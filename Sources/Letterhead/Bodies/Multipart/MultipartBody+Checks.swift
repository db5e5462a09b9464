import Foundation

extension MultipartBody {
    /// Refuses what must not be sent, as far as that can be told without opening anything.
    func check() throws(HTTPBodyError) {
        if !ASCII.isToken(kind.rawValue) { throw HTTPBodyError.invalid("the multipart kind is no token of RFC 9110") }
        for index in parts.indices {
            if let rule = parts[index].fields.brokenRule {
                throw HTTPBodyError.invalid("part \(index + 1) is refused: \(rule)")
            }
            if kind == .formData, !parts[index].fields.hasDisposition {
                throw HTTPBodyError.invalid(
                    "part \(index + 1) has no name, and the parts of a form need one (RFC 7578, 4.2)")
            }
        }
        if isUnchecked { try checkBoundary() }
    }

    /// Which part has a boundary in its content, among those in memory.
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
        HTTPBodyError.invalid("the boundary occurs in the content of part \(index + 1); give another, or none")
    }

    private func checkBoundary() throws(HTTPBodyError) {
        if let rule = MultipartBoundary.brokenRule(of: boundary) { throw HTTPBodyError.invalid(rule) }
        if let index = Self.index(of: boundary, in: parts) { throw Self.boundaryInside(part: index) }
    }
}
