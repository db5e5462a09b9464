// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// A body in a form to compare: JSON members have no order, and a boundary isn't random.
enum ComparedBody: Hashable {
    case none
    case json(JSONValue)
    case bytes(Data)

    init(_ data: Data, _ type: MediaType?) {
        if data.isEmpty {
            self = .none
        } else if type?.isMultipart != true, let json = try? JSONDecoder().decode(JSONValue.self, from: data) {
            self = .json(json)
        } else {
            self = .bytes(data.replacingBoundary(type?["boundary"]))
        }
    }
}

extension Data {
    /// Replaces a boundary with `boundary` wherever it occurs.
    func replacingBoundary(_ boundary: String?) -> Data {
        guard let boundary, !boundary.isEmpty else { return self }
        return replacing(Data(boundary.utf8), with: Data("boundary".utf8))
    }
}
