// SPDX-License-Identifier: MIT
// Brotli (RFC 7932) and Zstandard (RFC 8878), decompressed by the system's own libraries where they can be opened at run
// time. The names, numbers and layouts below are the libraries' binary interfaces.
#ifndef LETTERHEAD_CODINGS_H
#define LETTERHEAD_CODINGS_H

#include <stddef.h>
#include <stdint.h>

enum { LH_CODING_BROTLI = 1, LH_CODING_ZSTD = 2 };

enum {
    LH_DECOMPRESS_MORE = 0,
    LH_DECOMPRESS_END = 1,
    LH_DECOMPRESS_CORRUPT = 2,
    LH_DECOMPRESS_WINDOW = 3,
    LH_DECOMPRESS_MEMORY = 4,
};

/// One body's state.
typedef struct LHDecompressor LHDecompressor;

/// What a call has consumed and produced. The outcome is one of `LH_DECOMPRESS_…`.
typedef struct {
    size_t consumed;
    size_t produced;
    int outcome;
} LHDecompression;

/// Whether a coding's library can be opened and has every function. The first call opens it, and it is never closed.
int lh_coding_is_available(int coding);
/// Returns NULL if the coding is not available or there is not enough memory.
LHDecompressor *_Nullable lh_decompressor_create(int coding);
void lh_decompressor_destroy(LHDecompressor *_Nonnull decompressor);
/// Decompresses until the input is consumed, the output is full, or the body ends.
LHDecompression lh_decompress(LHDecompressor *_Nonnull decompressor, const uint8_t *_Nullable input, size_t count,
                              uint8_t *_Nonnull output, size_t capacity);

#endif
