// SPDX-License-Identifier: MIT
public import Letterhead
public import Logging

/// An observer that writes the events of a client to a logger of swift-log.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [LoggingObserver(Logger(label: "api"))])
/// ```
///
/// The message consists of the event name and the route. The facts are metadata, without secrets. `trace.id` is the
/// trace that the client propagates. Without `tracing:`, it is `TraceContext.current`.
public struct LoggingObserver: HTTPObserver {
    private let logger: Logger
    private let level: @Sendable (HTTPEvent) -> Logger.Level?

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - logger: the logger.
    ///   - level: returns the level of an event, or nil for an event that is not logged. Default:
    ///     ``standardLevel(of:)``.
    public init(
        _ logger: Logger, level: @escaping @Sendable (HTTPEvent) -> Logger.Level? = { standardLevel(of: $0) }
    ) {
        (self.logger, self.level) = (logger, level)
    }

    /// Writes the event, if the logger has its level.
    public func record(_ event: HTTPEvent) {
        guard let level = level(event), level >= logger.logLevel else { return }
        let name = [event.name.rawValue, event.route].compactMap(\.self).joined(separator: " ")
        logger.log(level: level, "\(name)", metadata: Self.metadata(of: event), source: "Letterhead")
    }

    /// Returns the level at which an event is logged by default:
    ///
    /// - `error` for a load that has failed
    /// - `warning` for a retry and for refused credentials
    /// - `info` for the end of a load, also if it has failed with a 4xx, and for a redirect
    /// - `debug` for attempts and decisions
    /// - `trace` for all other events
    public static func standardLevel(of event: HTTPEvent) -> Logger.Level? {
        switch event.name {
        case .loadFailed: event[.status].map { (400...499).contains($0) } == true ? .info : .error
        case .credentialsRefused, .credentialsFailed, .cookieRefused: .warning
        case .retryDecided: event[.isRetried] == true ? .warning : .debug
        case .loadEnd, .loadCancelled, .redirectDecided: .info
        case .loadStart, .attemptStart, .attemptEnd, .exchangeEnd, .exchangeFailed: .debug
        case _ where event.name.rawValue.hasPrefix("cache."): .debug
        default: .trace
        }
    }

    private static func metadata(of event: HTTPEvent) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["load": "\(event.load)"]
        if let parent = event.parent { metadata["parent"] = "\(parent)" }
        if event.attempt > 0 { metadata["attempt"] = "\(event.attempt)" }
        metadata[HTTPEvent.Fact.traceID.name] = TraceContext.current.map { "\($0.traceID)" }
        for fact in event.facts { metadata[fact.name] = value(fact.value) }
        return metadata
    }

    private static func value(_ value: any Sendable) -> Logger.MetadataValue {
        switch value {
        case let list as [String]: .array(list.map { .string($0) })
        case let duration as Duration: .string("\((duration / .microseconds(1)).rounded() / 1000) ms")
        default: .string("\(value)")
        }
    }
}
