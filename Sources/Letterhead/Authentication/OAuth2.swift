/// What an authorization server knows and gives out (RFC 6749).
///
/// The way in is
/// ``HTTPAuthentication/oauth2(client:tokenEndpoint:grant:store:allowedOrigins:parameters:refreshAhead:limit:clock:now:random:)``.
public enum OAuth2 {}
