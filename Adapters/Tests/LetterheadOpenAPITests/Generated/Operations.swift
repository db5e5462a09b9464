// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIRuntime

/// The types of a document with three operations, in the form that the generator gives them.
enum Components {
    struct Pet: Codable, Hashable, Sendable { var id: Int, name: String }
    struct Problem: Codable, Hashable, Sendable { var reason: String }
    struct Photo: Codable, Hashable, Sendable { var size: Int }
}

enum Operations {
    enum GetPet {
        static let id = "getPet"

        struct Input: Sendable, Hashable { var petID: Int }

        enum Output: Sendable, Hashable {
            case ok(Components.Pet)
            case notFound(Components.Problem)
            case undocumented(statusCode: Int, UndocumentedPayload)
        }
    }

    enum ExportPets {
        static let id = "exportPets"

        enum Output: Sendable, Hashable {
            case ok(HTTPBody)
            case undocumented(statusCode: Int, UndocumentedPayload)
        }
    }

    enum ImportPets {
        static let id = "importPets"

        struct Input: Sendable, Hashable { var body: HTTPBody }

        enum Output: Sendable, Hashable {
            case noContent
            case undocumented(statusCode: Int, UndocumentedPayload)
        }
    }

    enum AddPhoto {
        static let id = "addPhoto"

        enum Form: Sendable, Hashable {
            case caption(MultipartPart<HTTPBody>)
            case image(MultipartPart<HTTPBody>)
        }

        struct Input: Sendable, Hashable {
            var petID: Int
            var body: MultipartBody<Form>
        }

        enum Output: Sendable, Hashable {
            case created(Components.Photo)
            case undocumented(statusCode: Int, UndocumentedPayload)
        }
    }
}
