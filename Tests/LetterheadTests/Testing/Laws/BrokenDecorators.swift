// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization

/// Decorators that each break one law, which the laws must report.
enum BrokenDecorator {
    struct Path<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var path: RequestPath { "fixed" }
    }

    struct BaseURL<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var baseURL: URL? { nil }
    }

    struct Method<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var method: HTTPMethod { .get }
    }

    struct Query<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var query: QueryParameters { ["own": 1] }
    }

    struct Headers<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var headers: HTTPHeaders { ["X-Own": "1"] }
    }

    struct Parameters<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var parameters: RequestParameters { [:] }
    }

    struct NoBody<Base: RequestTemplate>: RequestDecorator {
        typealias Body = EmptyBody
        var base: Base
    }

    struct Boundary<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var boundary: String? { nil }
    }

    struct Statuses<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var acceptedStatuses: HTTPStatusSet? { .any }
    }

    struct Options<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var options: HTTPRequestOptions { HTTPRequestOptions() }
    }

    struct Decoding<Base: RequestTemplate>: RequestDecorator {
        typealias Response = String
        var base: Base
    }

    struct NoFailure<Base: RequestTemplate>: RequestDecorator {
        typealias Failure = Never
        var base: Base
    }

    struct Unheard<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
    }

    struct HeardTwice<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            _ = try await base.finish(result)
            return try await base.finish(result)
        }
    }

    struct Deaf<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
            _ = try await base.finish(result)
            return try result.get()
        }
    }

    struct Fresh<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var headers: HTTPHeaders {
            var headers = base.headers
            headers["X-Request"] = UUID().uuidString
            return headers
        }
    }

    /// A class, to break the law that nothing is changed in place.
    final class Counting<Base: RequestTemplate>: RequestDecorator, Sendable {
        let base: Base
        private let reads = Mutex(0)
        init(base: Base) { self.base = base }
        var path: RequestPath {
            let count = reads.withLock {
                $0 += 1; return $0
            }
            return "\(count)"
        }
    }

    struct Unpaged<Base: RequestTemplate>: RequestDecorator {
        let base: Base
    }

    struct Stuck<Base: RequestTemplate>: RequestDecorator {
        var base: Base
    }

    struct Resuming<Base: RequestTemplate>: RequestDecorator {
        var base: Base
    }

    struct Undressed<Base: RequestTemplate>: RequestDecorator {
        var base: Base
        var isFirst = true
        var headers: HTTPHeaders {
            var headers = base.headers
            if isFirst { headers["X-Own"] = "1" }
            return headers
        }
    }
}

extension BrokenDecorator.Stuck: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    func requestForNextPage() -> Self { self }
}

extension BrokenDecorator.Resuming: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    func resumed(from checkpoint: PageCheckpoint) -> Self { self }
    func requestForNextPage(after arrival: Page<Base.Response>) async throws -> PageContinuation<Self> { .last }
}

extension BrokenDecorator.Undressed: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {
    func requestForNextPage() -> Self { Self(base: base.requestForNextPage(), isFirst: false) }
}
