// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization

/// The behavior of the suite's server for one check. It is a class, because the server and the runner share its record.
final class SuiteServer: Sendable {
    /// A request that arrived, and the response headers that the client must receive.
    struct Record: Sendable {
        var number: Int
        var method: String
        var headers: HTTPHeaders
        var compared: [(name: String, value: String)]
    }

    let check: Check
    let id = UUID().uuidString.lowercased()
    /// Seconds since 1970. A pause of the check advances it.
    let time: Mutex<Double>
    private let records = Mutex<[Record]>([])

    init(_ check: Check, time: Double) {
        self.check = check
        self.time = Mutex(time)
    }

    var received: [Record] { records.withLock { $0 } }

    func respond(to request: MockServer.Request) -> MockServer.Response {
        let number = request.headers["Req-Num"].flatMap { Int($0) } ?? 0
        guard check.steps.indices.contains(number - 1) else { return .text("no such request", status: 409) }
        let step = check.steps[number - 1]
        var response = MockServer.Response(status: status(for: request, step, number))
        let count = records.withLock { $0.count + 1 }
        let now = time.withLock { $0 }
        response.headers = [
            "Server-Base-Url": request.target, "Server-Request-Count": "\(count)", "Client-Request-Count": "\(number)",
            "Server-Now": "\(Int(now * 1000))",
        ]
        var compared: [String] = []
        for field in step.fields("response_headers") {
            response.headers.append(HTTPHeaders.Name(field.name), text(of: field.value, field.name, step, request, now))
            if field.isCompared { compared.append(field.name) }
        }
        if !response.headers.contains(.contentType) { response.headers[.contentType] = "text/plain" }
        if !response.headers.contains(.date) { response.headers[.date] = Self.date(now) }
        let headers = response.headers
        let numbers = records.withLock { records in
            records.append(
                Record(
                    number: number, method: request.method.rawValue, headers: request.headers,
                    compared: compared.map { ($0, headers.values(for: .init($0)).joined(separator: ", ")) }))
            return records.map { "\($0.number)" }
        }
        response.headers["Request-Numbers"] = numbers.joined(separator: " ")
        if ![204, 304].contains(response.status.code) {
            response.body = Data((step["response_body"]?.text ?? id).utf8)
        }
        return step["disconnect"] == true ? response.fault(.close, at: .responseStart) : response
    }

    private func status(for request: MockServer.Request, _ step: Step, _ number: Int) -> HTTPStatus {
        guard step["expected_type"]?.text?.hasSuffix("validated") == true, number > 1 else {
            return HTTPStatus(step["response_status"]?.list?.first?.number ?? 200)
        }
        let previous = check.steps[number - 2].fields("response_headers")
        func value(_ name: String) -> String? {
            previous.last { $0.name.lowercased() == name }?.value.text
        }
        if let date = value("last-modified"), request.headers[.ifModifiedSince] == date { return 304 }
        if let tag = value("etag"), request.headers[.ifNoneMatch] == tag { return 304 }
        return 999
    }

    private func text(
        of value: JSONValue, _ name: String, _ step: Step, _ request: MockServer.Request, _ now: Double
    ) -> String {
        let name = name.lowercased()
        if let seconds = value.number {
            let isDate = ["date", "expires", "last-modified", "if-modified-since"].contains(name)
            return isDate ? Self.date(now + Double(seconds)) : "\(seconds)"
        }
        let text = value.text ?? ""
        guard step["magic_locations"] == true, ["location", "content-location"].contains(name) else { return text }
        return text.isEmpty ? request.target : "\(request.target)/\(text)"
    }

    static func date(_ seconds: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: seconds))
    }
}
