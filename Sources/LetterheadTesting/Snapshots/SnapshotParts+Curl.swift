import Foundation
import Letterhead

extension SnapshotParts {
    /// Returns the curl command of a request, with one option on each line, which shells and people can read.
    func curl(_ request: HTTPRequest, _ redaction: Redaction) -> String {
        var request = request
        request.redaction = request.redaction.adding(headers: redaction.headers, parameters: redaction.parameters)
        let headers = request.framedHeaders()
        for field in headers where VolatileHeaders.contain(field.name) { request.headers[field.name] = Self.volatile }
        let type = headers[.contentType].flatMap { MediaType($0) }
        if !headers.contains(.contentEncoding), let data = try? request.framedBody().data,
            let json = Self.indented(data, type)
        {
            // The order of the members of an object can differ in each run.
            request.headers[.contentType] = headers[.contentType]
            request.body = DataBody(Data(json.utf8), contentType: .json)
        }
        var command = request.curlCommand()
        if let boundary, !boundary.isEmpty { command = command.replacingBytes(of: boundary, with: "boundary") }
        return Self.lines(of: command.replacingBytes(of: Redaction.placeholder, with: CassetteRedaction.placeholder))
            + "\n"
    }

    /// Breaks a command before each option and before the URL. A space inside quotes does not end a word.
    private static func lines(of command: String) -> String {
        var words: [Substring] = []
        var rest = command.unicodeScalars[...]
        while !rest.isEmpty {
            var (isQuoted, isEscaped) = (false, false)
            let end = rest.indices.first { index in
                let character = rest[index]
                defer { isEscaped = character == "\\" && !isQuoted && !isEscaped }
                if character == "'", !isEscaped { isQuoted.toggle() }
                return character == " " && !isQuoted && !isEscaped
            }
            words.append(Substring(rest[..<(end ?? rest.endIndex)]))
            rest = end.map { rest[rest.index(after: $0)...] } ?? rest.suffix(0)
        }
        var text = ""
        for (index, word) in words.enumerated() {
            let beginsLine =
                word.begins(with: "--") || index == words.count - 1 && !words[index - 1].begins(with: "--url")
            text += index == 0 ? "" : beginsLine ? " \\\n  " : " "
            text += word
        }
        return text
    }
}
