// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// The client of a bookshop. The app creates one, and tests create one over a mock.
public struct Bookshop: Sendable {
    /// The reasons that the app shows.
    public enum Failure: Error, Equatable {
        /// The shop has no such book.
        case unknownBook
        /// The shop refused the request for a reason.
        case refused(String)
        /// The shop did not respond in time.
        case tooSlow
    }

    /// The production server.
    public static let environment = ServerEnvironment(
        baseURL: URL(string: "https://books.example.com/v1") ?? URL(filePath: "/"))

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }

    /// The decoder of all responses. Tests that decode recorded responses need it.
    public static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private let client: HTTPClient

    /// Creates a client. Tests pass a mock as the transport, and a program in production a `FlightRecorder`.
    public init(
        environment: ServerEnvironment = Bookshop.environment, authentication: HTTPAuthentication? = nil,
        retrying: Backoff = Backoff(maximumRetries: 3), attemptLinks: (any LoaderLink)? = nil,
        observers: [any HTTPObserver] = [], transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        client = HTTPClient(
            environment: environment, decoder: Self.decoder, authentication: authentication, retrying: retrying,
            attemptLinks: attemptLinks, observers: observers, transport: transport)
    }

    /// Returns a book.
    public func book(_ isbn: String) async throws -> Book {
        do {
            return try await client.send(GetBook(isbn: isbn).timeout(.seconds(10)))
        } catch let error as HTTPError where error.response?.status == .notFound {
            throw Failure.unknownBook
        } catch let error as HTTPError where error.response?.status == .gone {
            // The fix that the flight of the example led to.
            throw Failure.unknownBook
        } catch let error as HTTPError where error.code == .timedOut {
            throw Failure.tooSlow
        }
    }

    /// Returns the titles of all books of an author.
    public func titles(by author: String) async throws -> [String] {
        var titles: [String] = []
        for try await book in client.items(of: ListBooks(author: author).paginated(by: .linkHeader)) {
            titles.append(book.title)
        }
        return titles
    }

    /// Adds a book, and returns it as the shop has stored it.
    public func add(_ book: Book) async throws -> Book {
        do {
            return try await client.send(AddBook(book: book))
        } catch let error as HTTPError {
            guard let refusal = error.failure(of: AddBook.self) else { throw error }
            throw Failure.refused(refusal.reason)
        }
    }

    /// Removes a book.
    public func remove(_ isbn: String) async throws { try await client.send(RemoveBook(isbn: isbn)) }
}
