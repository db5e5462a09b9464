// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a context is read from headers and written to them`() throws {
        let context = try #require(
            TraceContext(
                traceparent: Self.valid, tracestate: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7",
                baggage: "userId=alice%20b;meta=1, empty, server = DF 28 ,bad name=1"))
        #expect(context.traceID == Self.trace && context.spanID == "00f067aa0ba902b7" && context.isSampled)
        #expect(context.traceparent == Self.valid && context.state == "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
        #expect(context.baggage == ["userId": "alice b", "server": "DF 28"])
        #expect(context.baggageHeader == "server=DF%2028,userId=alice%20b")
    }

    @Test(arguments: [
        "", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", "00-xyz-00f067aa0ba902b7-01",
        "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])
    func `a malformed traceparent begins another trace`(header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test func `a later version of traceparent may be longer`() {
        #expect(TraceContext(traceparent: "cc" + Self.valid.dropFirst(2) + "-what")?.traceID == Self.trace)
    }

    @Test(arguments: [
        "nothing", "A=1", "=1", "a=b=c", "a=\u{1}", String(repeating: "a=1,", count: 200),
        (0..<33).map { "a\($0)=1" }.joined(separator: ","),
    ])
    func `a malformed tracestate is left out`(state: String) throws {
        #expect(try #require(TraceContext(traceparent: Self.valid, tracestate: state)).state == nil)
    }

    @Test func `baggage is limited`() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<300).map { ("k\($0)", String(repeating: "v", count: 100)) })
        let context = try #require(TraceContext(traceID: Self.trace, spanID: "00f067aa0ba902b7", baggage: many))
        let header = try #require(context.baggageHeader)
        #expect(header.utf8.count <= 8_192 && header.split(separator: ",").count <= 180)
        #expect(TraceContext(traceID: Self.trace, spanID: "00f067aa0ba902b7", baggage: ["a b": "1"]) == nil)
    }

    @Test func `each attempt has its own span in the trace of the task`() async throws {
        let (sent, client) = client(TraceContextPropagation(random: numbers()))
        let context = TraceContext(traceparent: Self.valid, tracestate: "congo=1", baggage: "userId=alice")
        try await TraceContext.$current.withValue(context) {
            _ = try await client.send(TestEndpoint("users").retry(.immediate, maximumRetries: 2))
        }
        let headers = sent.withLock { $0 }
        #expect(headers.map { $0["traceparent"] } == (1...3).map { "00-\(Self.trace)-000000000000000\($0)-01" })
        #expect(headers.allSatisfy { $0["tracestate"] == "congo=1" && $0["baggage"] == "userId=alice" })
    }

    @Test func `without a trace, each load begins one`() async throws {
        let (sent, client) = client(TraceContextPropagation(random: numbers()))
        _ = try await client.send(TestEndpoint("users").retry(.immediate, maximumRetries: 2))
        let parents = sent.withLock { $0.compactMap { $0["traceparent"] } }
        #expect(Set(parents.map { $0.dropFirst(3).prefix(32) }) == ["00000000000000010000000000000002"])
        #expect(Set(parents).count == 3)
    }

    @Test func `other origins receive nothing, and a traceparent of the caller is kept`() async throws {
        let own = try #require(URL(string: "https://other.test"))
        let (sent, client) = client(TraceContextPropagation(allowedOrigins: [own]))
        _ = try await client.send(TestEndpoint("users").retry(.immediate, maximumRetries: 2))
        #expect(sent.withLock { $0.allSatisfy { $0["traceparent"] == nil } })
        let allowed = try #require(URL(string: "https://a.test"))
        let (traced, third) = self.client(TraceContextPropagation(allowedOrigins: [allowed]))
        _ = try await third.send(TestEndpoint("users").retry(.immediate, maximumRetries: 2))
        #expect(traced.withLock { $0.allSatisfy { $0["traceparent"] != nil } })
        let (kept, second) = self.client(TraceContextPropagation())
        _ = try await second.send(TestEndpoint("users").header("traceparent", Self.valid).retry(.immediate))
        #expect(kept.withLock { $0.allSatisfy { $0["traceparent"] == Self.valid } })
    }

    @Test(arguments: ["b3", "x-b3-traceid", "uber-trace-id", "x-amzn-trace-id", "x-datadog-trace-id"])
    func `a request has only one trace, in the format of the link that set it`(name: String) async throws {
        let (sent, client) = client(TraceContextPropagation())
        _ = try await client.send(TestEndpoint("users").header(HTTPHeaders.Name(name), "1").retry(.immediate))
        #expect(sent.withLock { !$0.isEmpty && $0.allSatisfy { $0["traceparent"] == nil } })
    }

    @Test(arguments: [nil, TraceContextTests.valid])
    func `every event of a load names its trace`(own: String?) async throws {
        let recorder = EventRecorder()
        let client = HTTPClient(
            environment: .of("https://a.test"), observers: [recorder],
            tracing: TraceContextPropagation(random: numbers()),
            transport: AnyLoader { HTTPResponse(request: $0, status: .serviceUnavailable) })
        _ = try? await client.send(
            TestEndpoint("users").header("traceparent", own).retry(.immediate, maximumRetries: 1))
        let traces = recorder.events.map { $0[.traceID] }
        #expect(traces.count > 8)
        #expect(Set(traces) == [own == nil ? "00000000000000010000000000000002" : Self.trace])
    }

    @Test func `an allowed origin without a host fails before anything is sent`() async throws {
        let (sent, client) = client(TraceContextPropagation(allowedOrigins: [try #require(URL(string: "/path"))]))
        await #expect { try await client.send(TestEndpoint("users")) } throws: {
            ($0 as? HTTPError)?.code == .invalidRequest
        }
        #expect(sent.withLock { $0.isEmpty })
    }

    /// A client with a transport that fails twice, and the headers that it sends.
    private func client(_ tracing: TraceContextPropagation) -> (SharedValue<[HTTPHeaders]>, HTTPClient) {
        let sent = SharedValue<[HTTPHeaders]>([])
        let transport = AnyLoader { request in
            let count = sent.withLock { sent in
                sent.append(request.headers)
                return sent.count
            }
            return HTTPResponse(request: request, status: count < 3 ? .serviceUnavailable : .ok)
        }
        return (sent, HTTPClient(environment: .of("https://a.test"), tracing: tracing, transport: transport))
    }

    private func numbers() -> @Sendable () -> UInt64 {
        let last = Counter()
        return { UInt64(last.next()) }
    }
}
