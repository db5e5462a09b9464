// SPDX-License-Identifier: MIT
#include "CLibcurl.h"

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// libcurl's side of the wrappers. These are its binary interface: the arguments after the option are variadic.
int curl_easy_setopt(LHCurlEasy *easy, int option, ...);
int curl_easy_getinfo(LHCurlEasy *easy, int info, ...);
int curl_multi_setopt(LHCurlMulti *multi, int option, ...);
int curl_share_setopt(LHCurlShare *share, int option, ...);

struct lh_curl_message {
    int kind;
    LHCurlEasy *easy;
    union {
        void *whatever;
        int result;
    } data;
};
struct lh_curl_message *curl_multi_info_read(LHCurlMulti *multi, int *left);

struct lh_curl_blob {
    const void *bytes;
    size_t size;
    unsigned int flags;
};

// Only the members that are read. Later versions of libcurl have more after them.
struct lh_curl_version_info {
    int age;
    const char *version;
    unsigned int number;
    const char *host;
    int features;
    const char *tls_library;
};
struct lh_curl_version_info *curl_version_info(int age);

struct lh_curl_tls_session {
    int library;
    void *session;
};

struct lh_curl_certificates {
    int count;
    struct curl_slist **lines;
};

struct lh_gnutls_datum {
    unsigned char *data;
    unsigned int size;
};

enum {
    VERBOSE = 41,
    WRITE_DATA = 10001,
    READ_DATA = 10009,
    HEADER_DATA = 10029,
    DEBUG_DATA = 10095,
    TLS_CONTEXT_DATA = 10109,
    SEEK_DATA = 10168,
    PREREQUEST_DATA = 10313,
    WRITE_FUNCTION = 20011,
    READ_FUNCTION = 20012,
    HEADER_FUNCTION = 20079,
    DEBUG_FUNCTION = 20094,
    TLS_CONTEXT_FUNCTION = 20108,
    SEEK_FUNCTION = 20167,
    PREREQUEST_FUNCTION = 20312,
    ACTIVE_SOCKET = 0x500000 + 44,
    TLS_SESSION = 0x400000 + 45,
    CERTIFICATES = 0x400000 + 34,
    // An alert that was read (SSL_CB_READ_ALERT).
    READ_ALERT = 0x4004,
    OPEN_SOCKET_DATA = 10164,
    OPEN_SOCKET_FUNCTION = 20163,
    CLOSE_SOCKET_DATA = 10209,
    RESOLVER_START_DATA = 10273,
    RESOLVER_START_FUNCTION = 20272,
    CLOSE_SOCKET_FUNCTION = 20208,
    MULTI_SOCKET_FUNCTION = 20001,
    MULTI_SOCKET_DATA = 10002,
    MULTI_TIMER_FUNCTION = 20004,
    MULTI_TIMER_DATA = 10005,
    SHARE_WHAT = 1,
    SHARED_TLS_SESSIONS = 4,
    MESSAGE_FINISHED = 1,
    COPY_BYTES = 1,
    EPOLL_PWAIT2 = 441,
};

unsigned int lh_curl_version(void) { return curl_version_info(0)->number; }

int lh_curl_features(void) { return curl_version_info(0)->features; }

int lh_curl_set_long(LHCurlEasy *easy, CurlOption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

int lh_curl_set_offset(LHCurlEasy *easy, CurlOption option, int64_t value) {
    return curl_easy_setopt(easy, option, value);
}

int lh_curl_set_string(LHCurlEasy *easy, CurlOption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

int lh_curl_set_pointer(LHCurlEasy *easy, CurlOption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

int lh_curl_set_data(LHCurlEasy *easy, CurlOption option, const void *bytes, size_t size) {
    struct lh_curl_blob blob = {bytes, size, COPY_BYTES};
    return curl_easy_setopt(easy, option, &blob);
}

// Sets a callback and its context together, so that neither ever exists without the other.
static int set_callback(LHCurlEasy *easy, int function_option, void (*function)(void), int data_option, void *context) {
    int result = curl_easy_setopt(easy, function_option, function);
    return result ? result : curl_easy_setopt(easy, data_option, context);
}

int lh_curl_set_write(LHCurlEasy *easy, LHCurlWrite function, void *context) {
    return set_callback(easy, WRITE_FUNCTION, (void (*)(void))function, WRITE_DATA, context);
}

int lh_curl_set_header(LHCurlEasy *easy, LHCurlWrite function, void *context) {
    return set_callback(easy, HEADER_FUNCTION, (void (*)(void))function, HEADER_DATA, context);
}

int lh_curl_set_read(LHCurlEasy *easy, LHCurlRead function, void *context) {
    return set_callback(easy, READ_FUNCTION, (void (*)(void))function, READ_DATA, context);
}

int lh_curl_set_seek(LHCurlEasy *easy, LHCurlSeek function, void *context) {
    return set_callback(easy, SEEK_FUNCTION, (void (*)(void))function, SEEK_DATA, context);
}

int lh_curl_set_open_socket(LHCurlEasy *easy, LHCurlOpenSocket function, void *context) {
    return set_callback(easy, OPEN_SOCKET_FUNCTION, (void (*)(void))function, OPEN_SOCKET_DATA, context);
}

const unsigned char *lh_curl_get_ip_address(const LHCurlAddress *address, long *count) {
    const void *socket_address = address + 1;
    *count = 0;
    if (address->family == AF_INET && address->size >= sizeof(struct sockaddr_in)) {
        *count = 4;
        return (const unsigned char *)&((const struct sockaddr_in *)socket_address)->sin_addr;
    }
    if (address->family == AF_INET6 && address->size >= sizeof(struct sockaddr_in6)) {
        *count = 16;
        return (const unsigned char *)&((const struct sockaddr_in6 *)socket_address)->sin6_addr;
    }
    return NULL;
}

int lh_curl_set_resolver_start(LHCurlEasy *easy, LHCurlResolverStart function, void *context) {
    return set_callback(
        easy, RESOLVER_START_FUNCTION, (void (*)(void))function, RESOLVER_START_DATA, context);
}

int lh_curl_set_close_socket(LHCurlEasy *easy, LHCurlCloseSocket function, void *context) {
    return set_callback(easy, CLOSE_SOCKET_FUNCTION, (void (*)(void))function, CLOSE_SOCKET_DATA, context);
}

int lh_curl_set_prerequest(LHCurlEasy *easy, LHCurlPrerequest function, void *context) {
    return set_callback(easy, PREREQUEST_FUNCTION, (void (*)(void))function, PREREQUEST_DATA, context);
}

static _Atomic(LHCurlStream) stream_observer;

static int on_log(LHCurlEasy *easy, int kind, const char *text, size_t size, void *context) {
    (void)easy;
    char line[128];
    // Type 0 is a line in the log. The other types are bytes that were sent or received.
    if (kind != 0 || size >= sizeof line) return 0;
    memcpy(line, text, size);
    line[size] = 0;
    unsigned int stream = 0;
    LHCurlStream observer = stream_observer;
    int is_begun = sscanf(line, "Using Stream ID: %u", &stream) == 1;
    // 7.88 spells the word in this way.
    if (is_begun || sscanf(line, "recveived GOAWAY, error=%*d, last_stream=%u", &stream) == 1) {
        if (observer) observer(context, stream, !is_begun);
    }
    return 0;
}

int lh_curl_observe_streams(LHCurlEasy *easy, LHCurlStream function, void *context) {
    if (function) stream_observer = function;
    set_callback(easy, DEBUG_FUNCTION, (void (*)(void))on_log, DEBUG_DATA, context);
    return curl_easy_setopt(easy, VERBOSE, function ? 1L : 0L);
}

int lh_curl_get_long(LHCurlEasy *easy, CurlInfo info, long *value) { return curl_easy_getinfo(easy, info, value); }

int lh_curl_get_offset(LHCurlEasy *easy, CurlInfo info, int64_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

int lh_curl_get_string(LHCurlEasy *easy, CurlInfo info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

int lh_curl_get_socket(LHCurlEasy *easy, int *socket) { return curl_easy_getinfo(easy, ACTIVE_SOCKET, socket); }

const char *lh_curl_get_certificate(LHCurlEasy *easy) {
    static const char name[] = "Cert:";
    struct lh_curl_certificates *all = NULL;
    if (curl_easy_getinfo(easy, CERTIFICATES, &all) || !all || all->count < 1) return NULL;
    // The server's own certificate comes first.
    for (struct curl_slist *line = all->lines[0]; line; line = line->next) {
        if (line->data && !strncmp(line->data, name, sizeof name - 1)) return line->data + sizeof name - 1;
    }
    return NULL;
}

#ifdef LETTERHEAD_STATIC
#define TLS_FUNCTIONS(each) \
    each(SSL_get0_alpn_selected) each(SSL_get_version) each(SSL_get_current_cipher) each(SSL_CIPHER_get_name) \
    each(SSL_CTX_set_info_callback) each(gnutls_alpn_get_selected_protocol) each(SSL_get0_verified_chain) \
    each(OPENSSL_sk_num) each(OPENSSL_sk_value) each(i2d_X509) each(CRYPTO_get_ex_new_index) \
    each(SSL_get_ex_data) each(SSL_set_ex_data)
// Weak, because libcurl may have been built with another TLS library.
#define DECLARE(function) void function(void) __attribute__((weak));
#define ENTRY(function) {#function, function},
TLS_FUNCTIONS(DECLARE)

static void *tls_function(const char *name) {
    static const struct { const char *name; void (*function)(void); } functions[] = {TLS_FUNCTIONS(ENTRY)};
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        if (!strcmp(functions[index].name, name)) return (void *)functions[index].function;
    }
    return NULL;
}
#else
// Looks up a TLS library's function through libcurl, because a process may also have loaded other TLS libraries.
static void *tls_function(const char *name) {
    void *libcurl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD);
    if (!libcurl) return NULL;
    void *function = dlsym(libcurl, name);
    dlclose(libcurl);
    return function;
}
#endif

typedef void (*openssl_alpn_function)(const void *session, const unsigned char **name, unsigned int *length);
typedef int (*gnutls_alpn_function)(const void *session, struct lh_gnutls_datum *name);

int lh_curl_is_multiplexed(LHCurlEasy *easy, const void **session) {
    static _Atomic(openssl_alpn_function) openssl;
    static _Atomic(gnutls_alpn_function) gnutls;
    struct lh_curl_tls_session *info = NULL;
    *session = NULL;
    if (curl_easy_getinfo(easy, TLS_SESSION, &info) || !info || !info->session) return 0;
    *session = info->session;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    // LH_TLS_OPENSSL and LH_TLS_GNUTLS have libcurl's numbers.
    if (info->library == LH_TLS_OPENSSL) {
        openssl_alpn_function function = openssl;
        if (!function) openssl = function = (openssl_alpn_function)tls_function("SSL_get0_alpn_selected");
        if (!function) return 0;
        function(info->session, &name, &length);
    } else if (info->library == LH_TLS_GNUTLS) {
        gnutls_alpn_function function = gnutls;
        if (!function) gnutls = function = (gnutls_alpn_function)tls_function("gnutls_alpn_get_selected_protocol");
        if (!function) return 0;
        struct lh_gnutls_datum datum = {NULL, 0};
        if (function(info->session, &datum) == 0) {
            name = datum.data;
            length = datum.size;
        }
    } else {
        return 0;
    }
    return name && length == 2 && name[0] == 'h' && (name[1] == '2' || name[1] == '3');
}

typedef const char *(*openssl_version_function)(const void *session);
typedef const void *(*openssl_cipher_function)(const void *session);
typedef const char *(*openssl_cipher_name_function)(const void *cipher);

void lh_curl_get_tls_names(LHCurlEasy *easy, const char **version, const char **cipher) {
    struct lh_curl_tls_session *info = NULL;
    *version = *cipher = NULL;
    if (curl_easy_getinfo(easy, TLS_SESSION, &info) || !info || !info->session) return;
    if (info->library != LH_TLS_OPENSSL) return;
    openssl_version_function get_version = (openssl_version_function)tls_function("SSL_get_version");
    openssl_cipher_function get_cipher = (openssl_cipher_function)tls_function("SSL_get_current_cipher");
    openssl_cipher_name_function get_name = (openssl_cipher_name_function)tls_function("SSL_CIPHER_get_name");
    if (get_version) *version = get_version(info->session);
    const void *current = get_cipher ? get_cipher(info->session) : NULL;
    if (current && get_name) *cipher = get_name(current);
}

// OpenSSL passes only the session, on the thread that reads, so each thread has its own observer.
static _Thread_local LHCurlAlert observer;
static _Thread_local void *observer_context;

static void on_session_info(const void *session, int where, int value) {
    // The bits above the alert's number contain its level.
    if (where == READ_ALERT && observer) observer(observer_context, session, value & 0xFF);
}

typedef void (*set_info_function)(void *context, void (*function)(const void *session, int where, int value));
static _Atomic(set_info_function) set_info;

static int on_tls_context(LHCurlEasy *easy, void *tls_context, void *context) {
    (void)easy, (void)context;
    set_info(tls_context, on_session_info);
    return 0;
}

int lh_curl_observe_alerts(LHCurlEasy *easy) {
    // The process may have loaded OpenSSL, too. Its functions must not receive another library's context.
    if (lh_curl_tls_library() != LH_TLS_OPENSSL) return 0;
    if (!set_info) set_info = (set_info_function)tls_function("SSL_CTX_set_info_callback");
    if (!set_info) return 0;
    return set_callback(easy, TLS_CONTEXT_FUNCTION, (void (*)(void))on_tls_context, TLS_CONTEXT_DATA, NULL) == 0;
}

void lh_curl_set_alert(LHCurlAlert function, void *context) {
    observer = function;
    observer_context = context;
}

// Each lookup opens the library once more, which costs too much to do it for each handle.
static int detect_tls_library(void) {
    static const char *const relatives[] = {"OpenSSL/", "LibreSSL/", "BoringSSL", "AWS-LC/", "quictls/"};
    const char *name = curl_version_info(0)->tls_library;
    if (!name) return LH_TLS_OTHER;
    for (size_t index = 0; index < sizeof relatives / sizeof *relatives; index++) {
        if (!strncmp(name, relatives[index], strlen(relatives[index])) && tls_function("SSL_get0_alpn_selected")) {
            return LH_TLS_OPENSSL;
        }
    }
    int is_gnutls = !strncmp(name, "GnuTLS/", 7) && tls_function("gnutls_alpn_get_selected_protocol");
    return is_gnutls ? LH_TLS_GNUTLS : LH_TLS_OTHER;
}

int lh_curl_tls_library(void) {
    // Two threads may both detect it, with the same result.
    static _Atomic int library = -1;
    if (library < 0) library = detect_tls_library();
    return library;
}

static struct {
    const void *(*chain)(const void *session);
    int (*count)(const void *chain);
    const void *(*certificate)(const void *chain, int index);
    int (*encode)(const void *certificate, unsigned char **bytes);
    int (*new_index)(int class, long number, void *pointer, void *create, void *copy, void *release);
    void *(*mark)(const void *session, int index);
    int (*set_mark)(const void *session, int index, void *mark);
    // The mark's index in a session's application data.
    int index;
} openssl;

int lh_curl_reads_chains(void) {
    const char *name = curl_version_info(0)->tls_library;
    // Libraries derived from OpenSSL have functions with the same names and other parameters.
    if (!name || (strncmp(name, "OpenSSL/", 8) && strncmp(name, "quictls/", 8))) return 0;
    const struct { const char *name; void **function; } needed[] = {
        {"SSL_get0_verified_chain", (void **)&openssl.chain},     {"OPENSSL_sk_num", (void **)&openssl.count},
        {"OPENSSL_sk_value", (void **)&openssl.certificate},      {"i2d_X509", (void **)&openssl.encode},
        {"CRYPTO_get_ex_new_index", (void **)&openssl.new_index}, {"SSL_get_ex_data", (void **)&openssl.mark},
        {"SSL_set_ex_data", (void **)&openssl.set_mark},
    };
    for (size_t index = 0; index < sizeof needed / sizeof *needed; index++) {
        if (!(*needed[index].function = tls_function(needed[index].name))) return 0;
    }
    // Class 0 means sessions (CRYPTO_EX_INDEX_SSL).
    openssl.index = openssl.new_index(0, 0, NULL, NULL, NULL, NULL);
    return openssl.index >= 0;
}

int lh_tls_certificate(const void *session, int index, unsigned char *bytes) {
    const void *chain = openssl.chain(session);
    if (!chain || index >= openssl.count(chain)) return 0;
    return openssl.encode(openssl.certificate(chain, index), bytes ? &bytes : NULL);
}

int lh_tls_is_accepted(const void *session) { return openssl.mark(session, openssl.index) != NULL; }

void lh_tls_accept(const void *session) { openssl.set_mark(session, openssl.index, &openssl); }

int lh_curl_multi_set_long(LHCurlMulti *multi, CurlMultiOption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

int lh_curl_multi_set_socket(LHCurlMulti *multi, LHCurlSocket function, void *context) {
    int result = curl_multi_setopt(multi, MULTI_SOCKET_FUNCTION, function);
    return result ? result : curl_multi_setopt(multi, MULTI_SOCKET_DATA, context);
}

int lh_curl_multi_set_timer(LHCurlMulti *multi, LHCurlTimer function, void *context) {
    int result = curl_multi_setopt(multi, MULTI_TIMER_FUNCTION, function);
    return result ? result : curl_multi_setopt(multi, MULTI_TIMER_DATA, context);
}

int lh_curl_share_tls_sessions(LHCurlShare *share) {
    return curl_share_setopt(share, SHARE_WHAT, SHARED_TLS_SESSIONS);
}

int lh_epoll_wait(int epoll, struct epoll_event *events, int count, int64_t nanoseconds) {
    static _Atomic int is_refused;
    if (nanoseconds <= 0) return epoll_wait(epoll, events, count, nanoseconds < 0 ? -1 : 0);
    if (!is_refused) {
        // The C library may be older than the kernel.
        struct timespec limit = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
        long result = syscall(EPOLL_PWAIT2, epoll, events, count, &limit, NULL, 0);
        if (result >= 0 || errno == EINTR) return (int)result;
        is_refused = 1;
    }
    int64_t milliseconds = (nanoseconds - 1) / 1000000 + 1;
    return epoll_wait(epoll, events, count, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
}

void lh_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

LHCurlEasy *lh_curl_next_finished(LHCurlMulti *multi, int *result) {
    int left = 0;
    struct lh_curl_message *message = curl_multi_info_read(multi, &left);
    while (message && message->kind != MESSAGE_FINISHED) message = curl_multi_info_read(multi, &left);
    if (!message) return NULL;
    *result = message->data.result;
    return message->easy;
}

#endif
