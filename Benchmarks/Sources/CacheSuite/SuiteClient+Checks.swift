// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension SuiteClient {
    /// Compares a response with the expectations.
    func check(_ response: HTTPResponse, _ step: Step, number: Int) throws {
        let count = value("Server-Request-Count", response).flatMap { Int($0) }
        let numbers = (value("Request-Numbers", response) ?? "").split(separator: " ")
        try expect(true, numbers.count == Set(numbers).count, "a request was sent twice")
        switch step["expected_type"]?.text {
        case "cached":
            let isCached = count.map { $0 < number } ?? (response.status == 304)
            try expect(step.isSetup("expected_type"), isCached, "response \(number) does not come from the cache")
        case "not_cached":
            try expect(step.isSetup("expected_type"), count == number, "response \(number) comes from the cache")
        default: break
        }
        try checkStatus(response, step, number)
        try checkHeaders(response, step, number)
        try checkBody(response, step, number)
    }

    private func checkStatus(_ response: HTTPResponse, _ step: Step, _ number: Int) throws {
        let code = response.status.code
        if let expected = step["expected_status"] {
            guard let expected = expected.number else { return }
            try expect(step.isSetup("expected_status"), code == expected, "the status of response \(number) is \(code)")
        } else if let expected = step["response_status"]?.list?.first?.number {
            try expect(true, code == expected, "the status of response \(number) is \(code)")
        } else if code == 999 {
            try expect(step.isSetup("expected_type"), false, "request \(number) was not conditional")
        } else {
            try expect(true, code == 200, "the status of response \(number) is \(code)")
        }
    }

    private func checkHeaders(_ response: HTTPResponse, _ step: Step, _ number: Int) throws {
        for header in step["expected_response_headers"]?.list ?? [] {
            let isSetup = step.isSetup("expected_response_headers")
            let name = header.text ?? header.list?.first?.text ?? ""
            let found = value(name, response)
            guard let parts = header.list else {
                try expect(isSetup, found != nil, "response \(number) has no \(name)")
                continue
            }
            if parts.count > 2 {
                let other = parts[2].text.flatMap { value($0, response) }
                let isKept = parts[1] == "=" ? found == other : Int(found ?? "") ?? 0 > parts[2].number ?? 0
                try expect(isSetup, isKept, "\(name) of response \(number) is \(found ?? "absent")")
            } else {
                let server = value("Server-Now", response).flatMap { Double($0) } ?? 0
                let expected = parts[1].number.map { SuiteServer.date(server / 1000 + Double($0)) } ?? parts[1].text
                try expect(isSetup, found == expected, "\(name) of response \(number) is \(found ?? "absent")")
            }
        }
        for header in step["expected_response_headers_missing"]?.list ?? [] {
            let isSetup = step.isSetup("expected_response_headers_missing")
            let name = header.text ?? header.list?.first?.text ?? ""
            let found = value(name, response)
            let isMissing = header.list.map { found?.contains($0[1].text ?? "") != true } ?? (found == nil)
            try expect(isSetup, isMissing, "response \(number) has \(name)")
        }
    }

    private func checkBody(_ response: HTTPResponse, _ step: Step, _ number: Int) throws {
        if step["check_body"] == false { return }
        let body = String(decoding: response.body.buffered ?? Data(), as: UTF8.self)
        if let expected = step["expected_response_text"] {
            guard let text = expected.text else { return }
            try expect(
                step.isSetup("expected_response_text"), body == text, "the body of response \(number) is \(body)")
        } else if let text = step["response_body"]?.text {
            try expect(true, body == text, "the body of response \(number) is \(body)")
        } else if ![204, 304].contains(response.status.code), step.method != "HEAD" {
            try expect(true, body == server.id, "the body of response \(number) is \(body)")
        }
    }

    /// Compares the requests that the server received with the expectations.
    func checkRequests(_ responses: [HTTPResponse?]) throws {
        let received = server.received
        var place = 0
        for (index, step) in server.check.steps.enumerated() {
            if step["expected_type"] == "cached" { continue }
            let number = index + 1
            let request = received.indices.contains(place) ? received[place] : nil
            place += 1
            let isSetup = step.isSetup("expected_type")
            if step["expected_type"] == "not_cached" {
                try expect(isSetup, request?.number == number, "response \(number) comes from the cache")
            }
            let validators = ["etag_validated": "If-None-Match", "lm_validated": "If-Modified-Since"]
            if let validator = step["expected_type"]?.text.flatMap({ validators[$0] }) {
                let isSent = request?.headers.contains(HTTPHeaders.Name(validator)) == true
                try expect(isSetup, isSent, "request \(number) has no \(validator)")
            }
            try checkRequest(request, step, number)
            for (name, value) in request?.compared ?? [] where name.lowercased() != "date" {
                guard let response = responses[index] else { continue }
                let found = self.value(name, response)
                try expect(true, found == value, "\(name) of response \(number) is \(found ?? "absent"), not \(value)")
            }
            if let method = step["expected_method"]?.text {
                try expect(
                    step.isSetup("expected_method"), request?.method == method, "request \(number) is no \(method)")
            }
        }
    }

    private func checkRequest(_ request: SuiteServer.Record?, _ step: Step, _ number: Int) throws {
        for header in step["expected_request_headers"]?.list ?? [] {
            let name = header.text ?? header.list?.first?.text ?? ""
            let found = request?.headers[HTTPHeaders.Name(name)]
            let isKept = header.list.map { found == $0[1].text } ?? (found != nil)
            try expect(
                step.isSetup("expected_request_headers"), isKept, "\(name) of request \(number) is \(found ?? "absent")"
            )
        }
        for header in step["expected_request_headers_missing"]?.list ?? [] {
            let name = header.text ?? header.list?.first?.text ?? ""
            let found = request?.headers[HTTPHeaders.Name(name)]
            let isMissing = header.list.map { found != $0[1].text } ?? (found == nil)
            try expect(step.isSetup("expected_request_headers_missing"), isMissing, "request \(number) has \(name)")
        }
    }
}
