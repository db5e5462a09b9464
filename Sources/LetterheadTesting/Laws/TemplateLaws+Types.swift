import Foundation
import Letterhead

extension TemplateLaws {
    /// Checks the stored members of the instance and of its superclasses.
    static func storedTypes(_ template: some RequestTemplate) -> [LawViolation] {
        var found: [LawViolation] = []
        var mirror: Mirror? = Mirror(reflecting: template)
        while let current = mirror {
            for child in current.children {
                guard let member = child.label.flatMap(TemplateMember.init), let type = requiredTypes[member],
                    Swift.type(of: child.value) != type
                else { continue }
                found.append(violation(member, written: "\(Swift.type(of: child.value))", required: "\(type)"))
            }
            mirror = current.superclassMirror
        }
        let body = Mirror(reflecting: template.body)
        if !(template.body is any HTTPBody), body.displayStyle != .optional || !body.children.isEmpty {
            found.append(
                LawViolation(
                    law: "types", member: .body,
                    reason: "is a \(Swift.type(of: template.body)), which is not an HTTPBody"))
        }
        return found
    }

    /// Checks the members that the sources declare.
    static func writtenTypes<Template: RequestTemplate>(
        of template: Template, sources: String
    ) throws -> [LawViolation] {
        let name = String("\(Template.self)".prefix { $0 != "<" })
        let files = try swiftFiles(at: sources).map { SwiftSource(try String(contentsOfFile: $0, encoding: .utf8)) }
        let bodies = files.flatMap { $0.bodies(ofType: name) }
        guard files.contains(where: { $0.declares(type: name) }) else {
            return [
                LawViolation(
                    law: "types", member: .path,
                    reason: "cannot be checked: \(name) is not declared in \(sources)")
            ]
        }
        return bodies.flatMap { $0.properties() }.compactMap { property in
            guard let member = TemplateMember(rawValue: property.name), let type = spellings[member],
                !type.contains(property.type)
            else { return nil }
            return violation(member, written: property.type, required: type[0])
        }
            + bodies.flatMap { $0.functions() }.compactMap { function in
                guard let member = TemplateMember(rawValue: function.name), let parameter = parameterSpellings[member],
                    !parameter.contains(function.parameterType)
                else { return nil }
                return violation(member, written: function.parameterType, required: parameter[0])
            }
    }

    private static func violation(_ member: TemplateMember, written: String, required: String) -> LawViolation {
        LawViolation(
            law: "types", member: member,
            reason:
                "has the type \(written) and the requirement \(required), so no request can be built from the template")
    }

    private static func swiftFiles(at path: String) throws -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        return try FileManager.default.subpathsOfDirectory(atPath: path).sorted().filter { $0.hasSuffix(".swift") }
            .map { path + "/" + $0 }
    }

    private static let requiredTypes: [TemplateMember: Any.Type] = [
        .path: RequestPath.self, .baseURL: URL?.self, .method: HTTPMethod.self, .query: QueryParameters.self,
        .headers: HTTPHeaders.self, .parameters: RequestParameters.self, .boundary: String?.self,
        .acceptedStatuses: HTTPStatusSet?.self, .options: HTTPRequestOptions.self,
    ]

    private static let spellings: [TemplateMember: [String]] = [
        .path: ["RequestPath", "Letterhead.RequestPath"],
        .baseURL: ["URL?", "Foundation.URL?", "Optional<URL>"],
        .method: ["HTTPMethod", "Letterhead.HTTPMethod"],
        .query: ["QueryParameters", "Letterhead.QueryParameters"],
        .headers: ["HTTPHeaders", "Letterhead.HTTPHeaders"],
        .parameters: ["RequestParameters", "Letterhead.RequestParameters"],
        .boundary: ["String?", "Optional<String>"],
        .acceptedStatuses: ["HTTPStatusSet?", "Letterhead.HTTPStatusSet?", "Optional<HTTPStatusSet>"],
        .options: ["HTTPRequestOptions", "Letterhead.HTTPRequestOptions"],
    ]

    private static let parameterSpellings: [TemplateMember: [String]] = [
        .decode: ["HTTPResponse", "Letterhead.HTTPResponse"],
        .finish: ["Result<HTTPResponse,HTTPError>", "Result<Letterhead.HTTPResponse,Letterhead.HTTPError>"],
    ]
}
