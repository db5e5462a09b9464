// Our own declarations of what Letterhead uses of the system's zlib (RFC 1950, 1951, 1952).
#ifndef LETTERHEAD_CZLIB_H
#define LETTERHEAD_CZLIB_H

// The state that a caller shares with zlib. The order and the types of the members are zlib's binary interface.
typedef struct z_stream_s {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *opaque, unsigned int items, unsigned int size);
    void (*zfree)(void *opaque, void *address);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;

enum {
    CZLIB_NO_FLUSH = 0,
    CZLIB_FINISH = 4,

    CZLIB_OK = 0,
    CZLIB_STREAM_END = 1,
    CZLIB_BUF_ERROR = -5,

    CZLIB_DEFLATED = 8,
    CZLIB_DEFAULT_STRATEGY = 0,
    CZLIB_DEFAULT_MEMORY = 8,

    // Window bits: raw deflate, gzip alone, and gzip or zlib as the first bytes say (for inflate).
    CZLIB_WINDOW_RAW = -15,
    CZLIB_WINDOW_GZIP = 31,
    CZLIB_WINDOW_ANY = 47,
};

const char *zlibVersion(void);

int deflateInit2_(z_stream *stream, int level, int method, int window_bits, int memory, int strategy,
                  const char *version, int stream_size);
int deflate(z_stream *stream, int flush);
int deflateEnd(z_stream *stream);

int inflateInit2_(z_stream *stream, int window_bits, const char *version, int stream_size);
int inflate(z_stream *stream, int flush);
int inflateEnd(z_stream *stream);

#endif
