// SPDX-License-Identifier: MIT

/// The error of every function of a store. The only other one is `CancellationError`.
public struct StorageError: Error, Sendable, Equatable {
    /// The kinds of failures.
    public enum Code: Sendable {
        /// The service refused the request. ``StorageError/status`` and ``StorageError/reason`` tell why.
        case refused
        /// No access token could be obtained.
        case cannotSignIn
        /// The service couldn't be reached, or the connection was lost.
        case unreachable
        /// The service was silent for too long.
        case timedOut
        /// The response breaks the protocol or can't be decoded.
        case malformed
        /// The content doesn't have its checksum.
        case damaged
        /// An operation has ended with a failure.
        case operationFailed
        /// A file can't be read or written, or an argument is invalid.
        case local
    }

    /// The kind of failure.
    public var code: Code
    /// The response's status, if there was a response.
    public var status: Int?
    /// The service's name for the failure, such as `notFound` or `conditionNotMet`.
    public var reason: String?
    /// A text for people, without secrets.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, status: Int? = nil, reason: String? = nil, message: String) {
        (self.code, self.status, self.reason, self.message) = (code, status, reason, message)
    }
}

/// The body of a response that refuses a request.
public struct StorageFailure: Codable, Sendable {
    /// The description of the failure.
    public struct Body: Codable, Sendable {
        /// One of several causes.
        public struct Item: Codable, Sendable {
            /// The name of the cause.
            public var reason: String
        }

        /// The status.
        public var code: Int
        /// A text for people.
        public var message: String
        /// The causes.
        public var errors: [Item]?
    }

    /// The description.
    public var error: Body

    /// Creates a failure, for tests.
    public init(code: Int, reason: String, message: String) {
        error = Body(code: code, message: message, errors: [Body.Item(reason: reason)])
    }
}
