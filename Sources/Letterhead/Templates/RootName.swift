/// Returns the name of the type of a template without its decorators.
func rootName<Template: RequestTemplate>(of type: Template.Type) -> String {
    func base<Decorator: RequestDecorator>(_ decorator: Decorator.Type) -> String { rootName(of: Decorator.Base.self) }
    if let decorator = type as? any RequestDecorator.Type { return base(decorator) }
    return String(describing: type)
}
