// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// A book of the shop.
public struct Book: Codable, Sendable, Equatable {
    /// The number of the book.
    public var isbn: String
    /// The title.
    public var title: String
    /// The date of publication, or nil if it is unknown.
    public var publishedAt: Date?

    /// Creates a book.
    public init(isbn: String, title: String, publishedAt: Date? = nil) {
        self.isbn = isbn
        self.title = title
        self.publishedAt = publishedAt
    }
}

/// The body of a response that refuses a request.
public struct Refusal: Codable, Sendable, Equatable {
    /// The reason, for the user.
    public var reason: String

    /// Creates a refusal.
    public init(reason: String) { self.reason = reason }
}

/// Returns one book.
public struct GetBook: RequestTemplate {
    /// The decoded response.
    public typealias Response = Book
    /// The number of the book.
    public let isbn: String
    /// The path of the endpoint.
    public var path: RequestPath { "books/\(isbn)" }
}

/// Returns the books of an author, in pages.
public struct ListBooks: RequestTemplate {
    /// The decoded response.
    public typealias Response = [Book]
    /// The name of the author.
    public let author: String
    /// The path of the endpoint.
    public var path: RequestPath { "books" }
    /// The query of the endpoint.
    public var query: QueryParameters { ["author": author] }
}

/// Adds a book to the shop.
public struct AddBook: RequestTemplate {
    /// The decoded response.
    public typealias Response = Book
    /// The decoded body of a failure.
    public typealias Failure = Refusal
    /// The new book.
    public let book: Book
    /// The method of the endpoint.
    public var method: HTTPMethod { .post }
    /// The path of the endpoint.
    public var path: RequestPath { "books" }
    /// The body of the request.
    public var body: some HTTPBody { JSONBody(book, encoder: Bookshop.encoder) }
}

/// Removes a book from the shop.
public struct RemoveBook: RequestTemplate {
    /// The decoded response.
    public typealias Response = Void
    /// The number of the book.
    public let isbn: String
    /// The method of the endpoint.
    public var method: HTTPMethod { .delete }
    /// The path of the endpoint.
    public var path: RequestPath { "books/\(isbn)" }
}
