extension Array {
    /// Replaces all elements that fit by one, at the place of the first of them, or at the end; nil removes them.
    mutating func replace(with element: Element?, where fits: (Element) -> Bool) {
        guard let place = firstIndex(where: fits) else {
            if let element { append(element) }
            return
        }
        let after = self[(place + 1)...].filter { !fits($0) }
        replaceSubrange(place..., with: (element.map { [$0] } ?? []) + after)
    }
}
