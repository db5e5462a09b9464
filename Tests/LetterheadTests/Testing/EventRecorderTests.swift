// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct EventRecorderTests {
    private let recorder = EventRecorder()

    @Test func `the events of a client are kept with their names`() async throws {
        let stubs = StubLoader().on(GetPerson.self) { _ in .ada }
        let client = HTTPClient(environment: .of("https://api.test"), observers: [recorder], transport: stubs)
        #expect(recorder.events.isEmpty && recorder.first(.loadStart) == nil)
        _ = try await client.send(GetPerson(login: "ada"))
        #expect(recorder.names.first == .loadStart && recorder.names.last == .loadEnd)
        #expect(recorder.first(.exchangeEnd)?[.status] == 200 && recorder.loads.map(\.count) == [recorder.events.count])
    }

    @Test func `the events of simultaneous loads are separated`() {
        let events = [(2, HTTPEvent.Name.loadStart), (1, .loadStart), (2, .attemptStart), (1, .loadEnd), (2, .loadEnd)]
        for (load, name) in events { recorder.record(HTTPEvent(name, load: load)) }
        #expect(recorder.loads.map { $0.map(\.load) } == [[2, 2, 2], [1, 1]])
        #expect(recorder.loads[0].map(\.name) == ["load.start", "attempt.start", "load.end"])
    }
}
