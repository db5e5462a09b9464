extension HTTPLoader {
    /// The chain as a tree, with one line for each link. The parts of a ``CompositeLink`` are below it.
    ///
    /// ```
    /// ResetGuard
    /// Choose
    /// ├─ fast: Throttle(4)
    /// └─ careful: Throttle(1)
    /// CurlLoader
    /// ```
    public var tree: String {
        let chain = self as? any LinkedLoader
        let links = chain?.links.flatMap { treeLines(of: $0) } ?? []
        return (links + [chainName(of: chain?.end ?? self)]).joined(separator: "\n")
    }
}

/// Returns the lines of a link: its name, followed by its parts.
private func treeLines(of link: any LoaderLink, named name: String? = nil) -> [String] {
    let prefix = name.map { "\($0): " } ?? ""
    if let chain = link as? LinkChain {
        let lines = chain.links.flatMap { treeLines(of: $0) }
        return [prefix + (lines.first ?? "")] + lines.dropFirst()
    }
    guard let composite = link as? any CompositeLink else { return [prefix + chainName(of: link)] }
    let title = composite is LinkGroup ? chainName(of: link).prefix { $0 != "(" } : Substring("\(type(of: link))")
    let parts = composite.parts
    return [prefix + title]
        + parts.indices.flatMap { index in
            let isLast = index == parts.count - 1
            let lines = treeLines(of: parts[index].link, named: parts[index].name)
            return lines.enumerated().map { line in
                (line.offset == 0 ? (isLast ? "└─ " : "├─ ") : (isLast ? "   " : "│  ")) + line.element
            }
        }
}

/// Returns the description of a composite on one line: its type, with its parts in parentheses.
func chainName(of link: any LoaderLink, parts: [(name: String?, link: any LoaderLink)]) -> String {
    let names = parts.map { part in (part.name.map { "\($0): " } ?? "") + chainName(of: part.link) }
    return "\(type(of: link))" + (names.isEmpty ? "" : "(\(names.joined(separator: " | ")))")
}
