// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime

/// A client in the form that the generator gives it.
struct PetsClient: Sendable {
    private let client: UniversalClient
    private var converter: Converter { client.converter }

    init(serverURL: URL, transport: any ClientTransport) {
        client = UniversalClient(serverURL: serverURL, transport: transport)
    }

    func getPet(_ input: Operations.GetPet.Input) async throws -> Operations.GetPet.Output {
        try await client.send(
            input: input, forOperation: Operations.GetPet.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/pets/{}", parameters: [input.petID])
                var request = HTTPRequest(soar_path: path, method: .get)
                request.headerFields[.accept] = "application/json"
                return (request, nil)
            },
            deserializer: { response, body in
                switch response.status.code {
                case 200:
                    .ok(try await converter.getResponseBodyAsJSON(Components.Pet.self, from: body) { $0 })
                case 404:
                    .notFound(try await converter.getResponseBodyAsJSON(Components.Problem.self, from: body) { $0 })
                default:
                    .undocumented(
                        statusCode: response.status.code,
                        UndocumentedPayload(headerFields: response.headerFields, body: body))
                }
            })
    }

    func exportPets() async throws -> Operations.ExportPets.Output {
        try await client.send(
            input: (), forOperation: Operations.ExportPets.id,
            serializer: { _ in
                let path = try converter.renderedPath(template: "/pets/export", parameters: [])
                var request = HTTPRequest(soar_path: path, method: .get)
                try converter.setQueryItemAsURI(
                    in: &request, style: .form, explode: true, name: "kind", value: "cats & dogs")
                return (request, nil)
            },
            deserializer: { response, body in
                switch response.status.code {
                case 200: .ok(try converter.getResponseBodyAsBinary(HTTPBody.self, from: body) { $0 })
                default:
                    .undocumented(
                        statusCode: response.status.code,
                        UndocumentedPayload(headerFields: response.headerFields, body: body))
                }
            })
    }

    func importPets(_ input: Operations.ImportPets.Input) async throws -> Operations.ImportPets.Output {
        try await client.send(
            input: input, forOperation: Operations.ImportPets.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/pets/import", parameters: [])
                var request = HTTPRequest(soar_path: path, method: .put)
                let body = try converter.setRequiredRequestBodyAsBinary(
                    input.body, headerFields: &request.headerFields, contentType: "application/octet-stream")
                return (request, body)
            },
            deserializer: { response, body in
                switch response.status.code {
                case 204: .noContent
                default:
                    .undocumented(
                        statusCode: response.status.code,
                        UndocumentedPayload(headerFields: response.headerFields, body: body))
                }
            })
    }

    func addPhoto(_ input: Operations.AddPhoto.Input) async throws -> Operations.AddPhoto.Output {
        try await client.send(
            input: input, forOperation: Operations.AddPhoto.id,
            serializer: { input in
                let path = try converter.renderedPath(template: "/pets/{}/photo", parameters: [input.petID])
                var request = HTTPRequest(soar_path: path, method: .post)
                request.headerFields[.accept] = "application/json"
                let body = try converter.setRequiredRequestBodyAsMultipart(
                    input.body, headerFields: &request.headerFields, contentType: "multipart/form-data",
                    allowsUnknownParts: false, requiredExactlyOncePartNames: ["image"],
                    requiredAtLeastOncePartNames: [], atMostOncePartNames: ["caption"], zeroOrMoreTimesPartNames: [],
                    encoding: { part in
                        let (name, type, content) =
                            switch part {
                            case .caption(let content): ("caption", "text/plain", content)
                            case .image(let content): ("image", "application/octet-stream", content)
                            }
                        var fields = HTTPFields()
                        let body = try converter.setRequiredRequestBodyAsBinary(
                            content.payload, headerFields: &fields, contentType: type)
                        return MultipartRawPart(
                            name: name, filename: content.filename, headerFields: fields, body: body)
                    })
                return (request, body)
            },
            deserializer: { response, body in
                switch response.status.code {
                case 201: .created(try await converter.getResponseBodyAsJSON(Components.Photo.self, from: body) { $0 })
                default:
                    .undocumented(
                        statusCode: response.status.code,
                        UndocumentedPayload(headerFields: response.headerFields, body: body))
                }
            })
    }
}
