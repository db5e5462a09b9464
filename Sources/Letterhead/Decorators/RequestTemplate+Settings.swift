// The modifiers for settings that are declared before templates, in Message, Environment and Decoding. The modifier of any
// other setting is beside its link.

extension RequestTemplate {
    /// Sets the environment of the request. It replaces the whole environment of the client; nil applies no
    /// environment.
    public func environment(_ environment: ServerEnvironment?) -> Modified<Self> {
        settings { $0.serverEnvironment = environment }
    }

    /// Limits the time of each attempt, with a precision of one millisecond; nil means no limit. An attempt that
    /// exceeds the limit fails with `.timedOut`. See ``RequestSettings/timeout``.
    public func timeout(_ timeout: Duration?) -> Modified<Self> {
        settings { $0.timeout = timeout }
    }

    /// Limits the time during which no byte is sent or received; nil means the limit of the transport. A request that
    /// exceeds the limit fails with `.timedOut`. See ``RequestSettings/idleTimeout``.
    public func idleTimeout(_ limit: Duration?) -> Modified<Self> {
        settings { $0.idleTimeout = limit }
    }

    /// Limits the time for the name lookup, the connection and the TLS handshake together. A request that exceeds the
    /// limit fails with `.timedOut`. If the limit is nil, the limit of the transport applies. See
    /// ``RequestSettings/connectTimeout``.
    public func connectTimeout(_ limit: Duration?) -> Modified<Self> { settings { $0.connectTimeout = limit } }

    /// Sets the decoder for the response. It replaces the decoder of the client.
    public func decoder(_ decoder: any HTTPBodyDecoder) -> Modified<Self> {
        settings { $0.decoder = decoder }
    }

    /// Sets the names that are secret in all descriptions of the request, its response and its errors.
    public func redaction(_ redaction: Redaction) -> Modified<Self> {
        settings { $0.redaction = redaction }
    }

    /// Sets the accepted statuses. They replace those of the template: `.accepting([200, 404])`.
    public func accepting(_ statuses: HTTPStatusSet) -> Modified<Self> {
        settings { $0.acceptedStatuses = statuses }
    }

    /// Marks the bodies of the request and of its response as secret; see ``RequestSettings/isSecret``.
    public func secret(_ isSecret: Bool = true) -> Modified<Self> { settings { $0.isSecret = isSecret } }

    /// Sets how the body of the response is delivered. ``HTTPClient/stream(_:)-(Template)`` and
    /// ``HTTPClient/download(_:to:)-(Template,_)`` replace this setting.
    public func responseDelivery(_ delivery: ResponseDelivery) -> Modified<Self> {
        settings { $0.responseDelivery = delivery }
    }

    /// Limits the number of bytes in the body of the response after decompression. The limit applies to buffered,
    /// streamed and downloaded bodies. A larger body causes a `.responseTooLarge` error. Default: see
    /// ``RequestSettings/responseLimit``.
    public func responseLimit(_ bytes: Int) -> Modified<Self> {
        settings { $0.responseLimit = bytes }
    }

    /// Adds a closure that is called while the bodies of the request and of its response are transferred; see
    /// ``RequestSettings/onProgress``. Closures are called in the order in which they were added.
    public func onProgress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> Modified<Self> {
        let earlier = options[option: TransferProgressOption.self]
        return settings {
            $0.onProgress = { progress in
                earlier?(progress)
                report(progress)
            }
        }
    }

    /// Reports the progress of the request to ``ProgressUpdates``, which end when the request ends. The progress is
    /// also reported to all ``ProgressUpdates`` that were added earlier.
    public func onProgress(_ updates: ProgressUpdates) -> Modified<Self> {
        settings { $0.progressReport = options.progressReport.adding(updates) }
    }
}
