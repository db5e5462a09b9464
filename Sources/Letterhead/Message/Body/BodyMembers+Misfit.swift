import Foundation

extension HTTPBody {
    /// Describes the first member that the library would ignore, because its type is wrong or because the library
    /// cannot call it; nil if all members are correct.
    public var _misfit: String? {
        Self.misfit("additionalHeaders", _AdditionalHeaders.self, _AdditionalHeadersGetter.self, HTTPHeaders.self)
            ?? Self.misfit("contentLength", _ContentLength.self, _ContentLengthGetter.self, Int?.self)
            ?? Self.misfit("isReplayable", _IsReplayable.self, _IsReplayableGetter.self, Bool.self)
            ?? Self.misfit("isEmpty", _IsEmpty.self, _IsEmptyGetter.self, Bool.self)
            ?? Self.misfit("encode()", _Encoded.self, _EncodedCall.self, Data.self)
            ?? Self.misfit("chunks()", _Chunks.self, _ChunksCall.self, BodyChunks.self)
    }

    /// - Parameters:
    ///   - declared: the declared type of the member.
    ///   - plain: equal to `declared` if the library can call the member; otherwise another type.
    private static func misfit(
        _ member: String, _ declared: Any.Type, _ plain: Any.Type, _ required: Any.Type
    ) -> String? {
        MemberTypes.misfit(member, of: Self.self, is: declared, required: required)
            ?? (declared == plain ? nil : MemberTypes.unreadable(member, of: Self.self))
    }
}
