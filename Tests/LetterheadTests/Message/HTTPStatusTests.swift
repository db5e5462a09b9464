// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct HTTPStatusTests {
    @Test func `the class of an unregistered code is that of its first digit`() {
        #expect(HTTPStatus(218).code == 218 && HTTPStatus(218).isSuccess && HTTPStatus(599).isServerError)
        #expect(HTTPStatus(218).reasonPhrase.isEmpty)
        #expect("\(HTTPStatus(218))" == "218")
    }

    @Test(arguments: 0...999) func `a code has at most one class`(code: Int) {
        let status = HTTPStatus(code)
        let classes = [
            status.isInformational, status.isSuccess, status.isRedirection, status.isClientError, status.isServerError,
        ]
        #expect(classes == (1...5).map { $0 == code / 100 })
    }

    @Test func `a registered code has a name and a phrase`() {
        #expect(HTTPStatus.tooEarly.code == 425)
        #expect("\(HTTPStatus.tooEarly)" == "425 Too Early")
        #expect("\(HTTPStatus.notFound)" == "404 Not Found")
    }

    @Test func `statuses are compared by their code`() {
        let literal: HTTPStatus = 404
        #expect(literal == .notFound && HTTPStatus.ok < .notFound)
    }
}

@Suite struct HTTPStatusSetTests {
    @Test(
        arguments: [
            (.success, Array(200...299)), (.any, Array(0...999)), ([], []),
            (.success.union([.notFound, 410]), Array(200...299) + [404, 410]),
        ] as [(HTTPStatusSet, [Int])])
    func `success is 2xx, any status is in the set of all, and a union holds the statuses of both`(
        set: HTTPStatusSet, codes: [Int]
    ) {
        #expect((0...999).filter { set.contains(HTTPStatus($0)) } == codes)
    }

    @Test func `sets of the same statuses are equal, however they were written`() {
        let listed: HTTPStatusSet = [200, 404]
        let repeated: HTTPStatusSet = [201, 200, 200]
        #expect(listed == [404, 200] && repeated == HTTPStatusSet(200...201))
        #expect(HTTPStatusSet(200...250).union(HTTPStatusSet(240...299)) == .success)
        #expect(Set([listed, [404, 200]]).count == 1)
    }
}
