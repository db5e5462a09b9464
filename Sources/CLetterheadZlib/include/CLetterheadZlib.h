// SPDX-License-Identifier: MIT
// Declares the parts of the system's zlib (RFC 1950, 1951, 1952) that Letterhead uses, under other names, because a
// program may import an SDK's zlib as well.
#ifndef LETTERHEAD_CZLIB_H
#define LETTERHEAD_CZLIB_H

#include "CLetterheadCodings.h"

// A zlib function's name as the linker knows it.
#define CZLIB_TEXT(text) #text
#define CZLIB_JOIN(prefix, name) CZLIB_TEXT(prefix) #name
#define CZLIB_PREFIX(prefix, name) CZLIB_JOIN(prefix, name)
#define CZLIB_NAME(name) __asm__(CZLIB_PREFIX(__USER_LABEL_PREFIX__, name))

// The state that a caller shares with zlib. Its members' order and types are zlib's binary interface.
typedef struct {
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
} CZlibStream;

enum {
    CZLIB_NO_FLUSH = 0,
    CZLIB_FINISH = 4,

    CZLIB_OK = 0,
    CZLIB_STREAM_END = 1,
    CZLIB_BUF_ERROR = -5,

    CZLIB_DEFLATED = 8,
    CZLIB_DEFAULT_STRATEGY = 0,
    CZLIB_DEFAULT_MEMORY = 8,

    // Window bits: raw deflate, gzip alone, and for inflate gzip or zlib, depending on the first bytes.
    CZLIB_WINDOW_RAW = -15,
    CZLIB_WINDOW_GZIP = 31,
    CZLIB_WINDOW_ANY = 47,
};

const char *czlib_version(void) CZLIB_NAME(zlibVersion);

int czlib_deflate_begin(CZlibStream *stream, int level, int method, int window_bits, int memory, int strategy,
                        const char *version, int stream_size) CZLIB_NAME(deflateInit2_);
int czlib_deflate(CZlibStream *stream, int flush) CZLIB_NAME(deflate);
int czlib_deflate_end(CZlibStream *stream) CZLIB_NAME(deflateEnd);

int czlib_inflate_begin(CZlibStream *stream, int window_bits, const char *version,
                        int stream_size) CZLIB_NAME(inflateInit2_);
int czlib_inflate(CZlibStream *stream, int flush) CZLIB_NAME(inflate);
int czlib_inflate_end(CZlibStream *stream) CZLIB_NAME(inflateEnd);

unsigned long czlib_crc32(unsigned long crc, const unsigned char *bytes, unsigned long count) CZLIB_NAME(crc32_z);

#endif
