// SPDX-License-Identifier: MIT
#if os(Linux) && Foundation
    import Foundation
    import FoundationNetworking
    import Letterhead
    import LetterheadURLSession

    extension Call {
        /// Sends the request through a session, as code for `URLSession` does. What a `URLRequest` can't contain is a
        /// setting of the client.
        func receivedBySession() async throws -> Outcome {
            var request = try StandardRequestBuilder(template).request()
            let options = request.options
            let session = ClientSession(setup.client.configured { $0 = options })
            request.serverEnvironment = ServerEnvironment(setup.scene.url(.api, "/api"))
            do {
                return try await received(try await request.urlRequest(readingBodyUpTo: 1 << 20), session)
            } catch let error as URLError {
                throw error.userInfo[NSUnderlyingErrorKey] as? HTTPError ?? error
            }
        }

        private func received(_ request: URLRequest, _ session: ClientSession) async throws -> Outcome {
            switch setup.testCase[.delivery] {
            case "stream", "lines":
                let (bytes, head) = try await session.bytes(for: request)
                let response = try accepted(head)
                let isByLine = setup.testCase[.delivery] == "lines"
                if isByLine { return try await collect(bytes.lines, response) { .lines($0) } }
                return try await collect(bytes, response) { .bytes(Data($0)) }
            case "download":
                let (file, head) = try await session.download(for: request)
                defer { try? FileManager.default.removeItem(at: file) }
                return .value(.bytes(try Data(contentsOf: file)), status: try accepted(head).status.code)
            default:
                let (data, head) = try await session.data(for: request)
                return .value(.bytes(data), status: try accepted(head).status.code)
            }
        }

        /// A session returns a response with any status.
        private func accepted(_ head: URLResponse) throws -> HTTPResponse {
            guard let head = head as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            let response = HTTPResponse(head)
            if response.status.isSuccess { return response }
            throw HTTPError(.unacceptableStatus, request: response.request, response: response)
        }
    }
#endif
