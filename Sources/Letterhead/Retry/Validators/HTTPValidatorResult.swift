/// What a validator says of an attempt.
public enum HTTPValidatorResult: Sendable {
    /// Nothing: the next validator judges; behind the last one, the attempt stands as it is.
    case nextValidator

    /// The next validator judges this response instead, and the caller gets it; of a failure, it makes a response.
    case nextValidatorWithResponse(HTTPResponse)

    /// The load fails, and no other validator is asked.
    ///
    /// An ``HTTPError`` reaches the caller as it is; any other is inside one, unchanged, with the code
    /// `.validationFailed`.
    case failChain(any Error)

    /// The request is sent again, as the strategy says, and no other validator is asked.
    ///
    /// It counts as a retry and is bound to the same limits as any other (``Retry``). When the request cannot be retried, a
    /// failure stays what it is. A response becomes an error that carries it: `.retriesExhausted` after at least one retry,
    /// else `.unacceptableStatus`, or `.validationFailed` when its status counts as success.
    case retry(HTTPRetryStrategy)
}
