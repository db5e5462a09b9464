// SPDX-License-Identifier: MIT
// Declares the parts of the system's libcurl that Letterhead uses.
//
// libcurl's own header comes with a development package, which may not be installed. The library itself is there
// wherever Foundation's networking is. The names, numbers and layouts below are libcurl's binary interface, which has
// not changed since 2006.
#ifndef LETTERHEAD_CLIBCURL_H
#define LETTERHEAD_CLIBCURL_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>
// The system's own headers that no Swift module has.
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define LH_OPEN_ENUM(name) enum __attribute__((enum_extensibility(open))) name : int

// libcurl's handles are opaque.
typedef struct LHCurlEasy LHCurlEasy;
typedef struct LHCurlMulti LHCurlMulti;
typedef struct LHCurlShare LHCurlShare;
typedef struct LHCurlURL LHCurlURL;

/// A list of lines that libcurl reads and doesn't own. The layout is libcurl's.
struct curl_slist {
    char *_Nullable data;
    struct curl_slist *_Nullable next;
};

// MARK: Options of one transfer (the number's ten thousands tell the kind of its argument)

typedef LH_OPEN_ENUM(CurlOption) {
    // int or long
    CurlOptionNoBody = 44,
    CurlOptionUpload = 46,
    CurlOptionPost = 47,
    CurlOptionNetrc = 51,
    CurlOptionFollowLocation = 52,
    CurlOptionFreshConnect = 74,
    CurlOptionForbidReuse = 75,
    CurlOptionHTTPGet = 80,
    CurlOptionHTTPVersion = 84,
    CurlOptionSSLVersion = 32,
    CurlOptionBufferSize = 98,
    CurlOptionNoSignal = 99,
    CurlOptionConnectOnly = 141,
    CurlOptionSSLSessionCache = 150,
    CurlOptionAddressFamily = 113,
    CurlOptionConnectTimeoutMilliseconds = 156,
    CurlOptionContentDecoding = 158,
    CurlOptionCertificateInfo = 172,
    CurlOptionProtocols = 181,
    CurlOptionTCPKeepAlive = 213,
    CurlOptionTCPKeepIdle = 214,
    CurlOptionTCPKeepInterval = 215,
    CurlOptionHeaderOptions = 229,
    CurlOptionPathAsIs = 234,
    CurlOptionPipeWait = 237,
    CurlOptionSuppressConnectHeaders = 265,
    CurlOptionDisallowUsername = 278,
    CurlOptionHTTP09Allowed = 285,
    CurlOptionMaximumIdleTime = 288,
    CurlOptionMaximumAge = 314,
    CurlOptionProxySSLVersion = 250,
    CurlOptionUploadBufferSize = 280,
    CurlOptionQuickExit = 322,
    // pointer or string
    CurlOptionAddress = 10002,
    CurlOptionProxy = 10004,
    CurlOptionErrorBuffer = 10010,
    CurlOptionPostFields = 10015,
    CurlOptionHTTPHeader = 10023,
    CurlOptionKeyPassword = 10026,
    CurlOptionCustomRequest = 10036,
    CurlOptionInterface = 10062,
    CurlOptionCAInfo = 10065,
    CurlOptionCAPath = 10097,
    CurlOptionShare = 10100,
    CurlOptionPrivate = 10103,
    CurlOptionProxyUsername = 10175,
    CurlOptionProxyPassword = 10176,
    CurlOptionNoProxy = 10177,
    CurlOptionPinnedPublicKey = 10230,
    CurlOptionUnixSocketPath = 10231,
    CurlOptionProxyCAInfo = 10246,
    CurlOptionProxyCAPath = 10247,
    CurlOptionConnectTo = 10243,
    CurlOptionRequestTarget = 10266,
    CurlOptionResolver = 10279,
    CurlOptionParsedAddress = 10282,
    // 64-bit number
    CurlOptionUploadSize = 30115,
    CurlOptionPostFieldSize = 30120,
    // bytes in memory
    CurlOptionSSLCertificateData = 40291,
    CurlOptionSSLKeyData = 40292,
    CurlOptionCAData = 40309,
    CurlOptionProxyCAData = 40310,
} CurlOption;

// MARK: Options of the handle that drives many transfers

typedef LH_OPEN_ENUM(CurlMultiOption) {
    CurlMultiOptionMaximumIdleConnections = 6,
    CurlMultiOptionMaximumHostConnections = 7,
    CurlMultiOptionMaximumTotalConnections = 13,
    CurlMultiOptionMaximumStreams = 16,
} CurlMultiOption;

// MARK: Facts about a finished transfer

typedef LH_OPEN_ENUM(CurlInfo) {
    CurlInfoConnectionsMade = 0x200000 + 26,
    CurlInfoPrimaryPort = 0x200000 + 40,
    CurlInfoTunnelStatus = 0x200000 + 22,
    CurlInfoHTTPVersion = 0x200000 + 46,
    CurlInfoHeaderSize = 0x200000 + 11,
    CurlInfoRequestSize = 0x200000 + 12,
    CurlInfoPrivate = 0x100000 + 21,
    CurlInfoPrimaryAddress = 0x100000 + 32,
    CurlInfoCAInfo = 0x100000 + 61,
    CurlInfoCAPath = 0x100000 + 62,
    CurlInfoUploaded = 0x600000 + 7,
    CurlInfoDownloaded = 0x600000 + 8,
    CurlInfoContentLength = 0x600000 + 15,
    CurlInfoTotalTime = 0x600000 + 50,
    CurlInfoNameLookupTime = 0x600000 + 51,
    CurlInfoConnectTime = 0x600000 + 52,
    CurlInfoStartTransferTime = 0x600000 + 54,
    CurlInfoTLSTime = 0x600000 + 56,
    CurlInfoSentTime = 0x600000 + 67,
} CurlInfo;

// MARK: Callbacks

/// Takes received bytes. A result below `size * count` ends the transfer, and `CURL_WRITE_PAUSE` pauses it.
typedef size_t (*LHCurlWrite)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
/// Provides bytes to send. 0 ends the body, `CURL_READ_ABORT` ends the transfer, and `CURL_READ_PAUSE` pauses it.
typedef size_t (*LHCurlRead)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
/// Rewinds a body: 0 is done, 1 is failure.
typedef int (*LHCurlSeek)(void *_Nullable context, int64_t offset, int origin);
/// Called when a connection is open, before the request is sent on it: 0 continues, 1 ends the transfer.
typedef int (*LHCurlPrerequest)(
    void *_Nullable context, char *_Nullable address, char *_Nullable localAddress, int port, int localPort);
/// What to open a socket for. The socket address follows, and libcurl connects to it.
typedef struct LHCurlAddress {
    int family;
    int kind;
    int protocol;
    unsigned int size;
} LHCurlAddress;
/// Opens a socket. A result below 0 is a failure.
typedef int (*LHCurlOpenSocket)(void *_Nullable context, int purpose, const LHCurlAddress *_Nonnull address);
/// Called before a name is looked up: 0 continues.
typedef int (*LHCurlResolverStart)(void *_Nullable resolver, void *_Nullable reserved, void *_Nullable context);
/// Closes a socket: 0 when it is closed.
typedef int (*LHCurlCloseSocket)(void *_Nullable context, int socket);
/// Called when a TLS session has received an alert (RFC 8446, 6). 0 is close_notify: the peer ends what it sends, and
/// this end is authenticated.
typedef void (*LHCurlAlert)(void *_Nullable context, const void *_Nonnull session, int alert);
/// Called when libcurl has assigned an HTTP/2 stream to a request, and when a connection has received GOAWAY, with the
/// last stream that its server may process.
typedef void (*LHCurlStream)(void *_Nullable context, unsigned int stream, int isGoAway);
/// Receives which sockets to watch, and for which events.
typedef int (*LHCurlSocket)(
    LHCurlEasy *_Nullable easy, int socket, int what, void *_Nullable context, void *_Nullable socketContext);
/// Receives in how many milliseconds to call again. -1 means never.
typedef int (*LHCurlTimer)(LHCurlMulti *_Nullable multi, long milliseconds, void *_Nullable context);

enum {
    CURL_WRITE_PAUSE = 0x10000001,
    CURL_READ_PAUSE = 0x10000001,
    CURL_READ_ABORT = 0x10000000,
    CURL_POLL_REMOVED = 4,
};

// MARK: Functions

int curl_global_init(long flags);
/// The versions of libcurl and its libraries, as text.
const char *_Nonnull curl_version(void);
/// libcurl's version number, as 0x078801 for 7.136.1.
unsigned int lh_curl_version(void);
/// What libcurl was built with.
int lh_curl_features(void);
enum { LH_CURL_HTTP2 = 1 << 16, LH_CURL_HTTP3 = 1 << 25 };
const char *_Nonnull curl_easy_strerror(int code);

LHCurlEasy *_Nullable curl_easy_init(void);
void curl_easy_cleanup(LHCurlEasy *_Nonnull easy);
int curl_easy_pause(LHCurlEasy *_Nonnull easy, int directions);
// For a handle with CurlOptionConnectOnly that has opened its connection. 81 (CURLE_AGAIN) means that the connection
// takes or has no bytes at present. 0 bytes without an error are its end.
int curl_easy_send(
    LHCurlEasy *_Nonnull easy, const void *_Nonnull bytes, size_t size, size_t *_Nonnull count);
int curl_easy_recv(LHCurlEasy *_Nonnull easy, void *_Nonnull bytes, size_t size, size_t *_Nonnull count);

LHCurlMulti *_Nullable curl_multi_init(void);
int curl_multi_cleanup(LHCurlMulti *_Nonnull multi);
int curl_multi_add_handle(LHCurlMulti *_Nonnull multi, LHCurlEasy *_Nonnull easy);
int curl_multi_remove_handle(LHCurlMulti *_Nonnull multi, LHCurlEasy *_Nonnull easy);
int curl_multi_socket_action(LHCurlMulti *_Nonnull multi, int socket, int events, int *_Nonnull running);

LHCurlShare *_Nullable curl_share_init(void);
int curl_share_cleanup(LHCurlShare *_Nonnull share);

LHCurlURL *_Nullable curl_url(void);
void curl_url_cleanup(LHCurlURL *_Nonnull url);
int curl_url_set(LHCurlURL *_Nonnull url, int part, const char *_Nullable text, unsigned int flags);

// libcurl's setters and getters are variadic, and Swift cannot call them. Each kind of argument has a wrapper.

int lh_curl_set_long(LHCurlEasy *_Nonnull easy, CurlOption option, long value);
int lh_curl_set_offset(LHCurlEasy *_Nonnull easy, CurlOption option, int64_t value);
int lh_curl_set_string(LHCurlEasy *_Nonnull easy, CurlOption option, const char *_Nullable value);
int lh_curl_set_pointer(LHCurlEasy *_Nonnull easy, CurlOption option, const void *_Nullable value);
int lh_curl_set_data(LHCurlEasy *_Nonnull easy, CurlOption option, const void *_Nonnull bytes, size_t size);
int lh_curl_set_write(LHCurlEasy *_Nonnull easy, LHCurlWrite _Nonnull function, void *_Nullable context);
int lh_curl_set_header(LHCurlEasy *_Nonnull easy, LHCurlWrite _Nonnull function, void *_Nullable context);
int lh_curl_set_read(LHCurlEasy *_Nonnull easy, LHCurlRead _Nonnull function, void *_Nullable context);
int lh_curl_set_seek(LHCurlEasy *_Nonnull easy, LHCurlSeek _Nonnull function, void *_Nullable context);
int lh_curl_set_prerequest(LHCurlEasy *_Nonnull easy, LHCurlPrerequest _Nonnull function, void *_Nullable context);
int lh_curl_set_open_socket(
    LHCurlEasy *_Nonnull easy, LHCurlOpenSocket _Nonnull function, void *_Nullable context);
/// The 4 or 16 bytes of the IP address that a socket is opened for, or NULL and 0 for any other address.
const unsigned char *_Nullable lh_curl_get_ip_address(
    const LHCurlAddress *_Nonnull address, long *_Nonnull count);
int lh_curl_set_resolver_start(
    LHCurlEasy *_Nonnull easy, LHCurlResolverStart _Nonnull function, void *_Nullable context);
int lh_curl_set_close_socket(
    LHCurlEasy *_Nonnull easy, LHCurlCloseSocket _Nonnull function, void *_Nullable context);

/// Reads streams and GOAWAY frames in the log of libcurl 7.88. NULL turns the log off.
int lh_curl_observe_streams(LHCurlEasy *_Nonnull easy, LHCurlStream _Nullable function, void *_Nullable context);

int lh_curl_get_long(LHCurlEasy *_Nonnull easy, CurlInfo info, long *_Nonnull value);
int lh_curl_get_offset(LHCurlEasy *_Nonnull easy, CurlInfo info, int64_t *_Nonnull value);
/// The last connection's socket, or -1 when it is closed.
int lh_curl_get_socket(LHCurlEasy *_Nonnull easy, int *_Nonnull socket);
int lh_curl_get_string(LHCurlEasy *_Nonnull easy, CurlInfo info, const char *_Nullable *_Nonnull value);

/// Whether TLS negotiated HTTP/2 or HTTP/3 for a transfer's connection (RFC 7301), as the TLS library reports it.
/// `session` is the address of the connection's TLS session, which no other open connection has. NULL without TLS.
int lh_curl_is_multiplexed(LHCurlEasy *_Nonnull easy, const void *_Nullable *_Nonnull session);
/// Reads the names of the TLS version and the cipher suite on a transfer's connection. They are NULL without TLS, and
/// if libcurl's TLS library isn't OpenSSL or derived from it. The texts are constants in the TLS library.
void lh_curl_get_tls_names(
    LHCurlEasy *_Nonnull easy, const char *_Nullable *_Nonnull version, const char *_Nullable *_Nonnull cipher);
/// The server's certificate on a transfer's last new connection, as PEM. NULL unless CurlOptionCertificateInfo is set
/// and the TLS library supports it. The text belongs to the handle, until its next transfer.
const char *_Nullable lh_curl_get_certificate(LHCurlEasy *_Nonnull easy);
/// Lets a transfer's TLS sessions report alerts to the thread that reads them. Returns 0 if libcurl's TLS library isn't
/// OpenSSL or derived from it. GnuTLS reports a missing close_notify itself.
int lh_curl_observe_alerts(LHCurlEasy *_Nonnull easy);
/// Sets the function that receives alerts for TLS sessions that the calling thread reads. NULL removes it.
void lh_curl_set_alert(LHCurlAlert _Nullable function, void *_Nullable context);
/// The TLS library that libcurl uses: OpenSSL or a derived library with the same interface, GnuTLS, or another.
int lh_curl_tls_library(void);
enum { LH_TLS_OTHER = 0, LH_TLS_OPENSSL = 1, LH_TLS_GNUTLS = 2 };

/// Whether libcurl's TLS library is OpenSSL, so that the functions below can be called. Call this once before them.
int lh_curl_reads_chains(void);
/// Writes a certificate from the chain that OpenSSL verified for a session as DER to `bytes`, unless that is NULL. The
/// server's own has the index 0. Returns its length, 0 after the last certificate, or less than 0 on failure.
int lh_tls_certificate(const void *_Nonnull session, int index, unsigned char *_Nullable bytes);
/// Whether this session was passed to ``lh_tls_accept``. The mark belongs to the session and ends with it.
int lh_tls_is_accepted(const void *_Nonnull session);
void lh_tls_accept(const void *_Nonnull session);

int lh_curl_multi_set_long(LHCurlMulti *_Nonnull multi, CurlMultiOption option, long value);
int lh_curl_multi_set_socket(LHCurlMulti *_Nonnull multi, LHCurlSocket _Nonnull function, void *_Nullable context);
int lh_curl_multi_set_timer(LHCurlMulti *_Nonnull multi, LHCurlTimer _Nonnull function, void *_Nullable context);

/// Shares TLS sessions between the transfers of one thread (no locks are set, so one thread only).
int lh_curl_share_tls_sessions(LHCurlShare *_Nonnull share);

/// epoll's wait with a limit in nanoseconds. Below zero, it has no limit. Before Linux 5.11, the limit is rounded up to
/// whole milliseconds.
int lh_epoll_wait(int epoll, struct epoll_event *_Nonnull events, int count, int64_t nanoseconds);

/// Names the calling thread for debuggers, in at most 15 bytes.
void lh_name_thread(const char *_Nonnull name);

/// The next finished transfer and its result, or NULL if no other has finished.
LHCurlEasy *_Nullable lh_curl_next_finished(LHCurlMulti *_Nonnull multi, int *_Nonnull result);

#endif
#endif
