// SPDX-License-Identifier: MIT
#include "CLetterheadCodings.h"

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    BROTLI_ERROR = 0,
    BROTLI_SUCCESS = 1,
    BROTLI_FIRST_MEMORY_ERROR = -30,
    BROTLI_LAST_MEMORY_ERROR = -21,
    ZSTD_WINDOW_LOG_MAX = 100,
    // RFC 9659 limits the content coding's window to 8 MiB.
    ZSTD_LARGEST_WINDOW_LOG = 23,
    ZSTD_ERROR_WINDOW = 16,
    ZSTD_ERROR_MEMORY = 64,
};

typedef struct {
    const void *bytes;
    size_t size;
    size_t position;
} zstd_input;

typedef struct {
    void *bytes;
    size_t size;
    size_t position;
} zstd_output;

static struct {
    void *(*create)(void *allocate, void *release, void *context);
    void (*destroy)(void *state);
    int (*decompress)(void *state, size_t *input_left, const uint8_t **input, size_t *output_left, uint8_t **output,
                      size_t *total);
    int (*error)(const void *state);
    int is_available;
} brotli;

static struct {
    void *(*create)(void);
    size_t (*destroy)(void *state);
    size_t (*set)(void *state, int parameter, int value);
    size_t (*decompress)(void *state, zstd_output *output, zstd_input *input);
    unsigned int (*is_error)(size_t result);
    int (*error)(size_t result);
    int is_available;
} zstd;

static void *open_library(const char *name) {
#ifdef LETTERHEAD_STATIC
    // In a static program, a library would need a second C library.
    (void)name;
    return NULL;
#else
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
#endif
}

static void open_brotli(void) {
    void *library = open_library("libbrotlidec.so.1");
    if (!library) return;
    *(void **)&brotli.create = dlsym(library, "BrotliDecoderCreateInstance");
    *(void **)&brotli.destroy = dlsym(library, "BrotliDecoderDestroyInstance");
    *(void **)&brotli.decompress = dlsym(library, "BrotliDecoderDecompressStream");
    *(void **)&brotli.error = dlsym(library, "BrotliDecoderGetErrorCode");
    brotli.is_available = brotli.create && brotli.destroy && brotli.decompress && brotli.error;
}

static void open_zstd(void) {
    void *library = open_library("libzstd.so.1");
    if (!library) return;
    *(void **)&zstd.create = dlsym(library, "ZSTD_createDCtx");
    *(void **)&zstd.destroy = dlsym(library, "ZSTD_freeDCtx");
    *(void **)&zstd.set = dlsym(library, "ZSTD_DCtx_setParameter");
    *(void **)&zstd.decompress = dlsym(library, "ZSTD_decompressStream");
    *(void **)&zstd.is_error = dlsym(library, "ZSTD_isError");
    *(void **)&zstd.error = dlsym(library, "ZSTD_getErrorCode");
    zstd.is_available =
        zstd.create && zstd.destroy && zstd.set && zstd.decompress && zstd.is_error && zstd.error;
}

static void open_libraries(void) {
    open_brotli();
    open_zstd();
}

int lh_coding_is_available(int coding) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_libraries);
    return coding == LH_CODING_BROTLI ? brotli.is_available : coding == LH_CODING_ZSTD && zstd.is_available;
}

struct LHDecompressor {
    int coding;
    void *state;
};

static void *create_zstd(void) {
    void *state = zstd.create();
    if (state && zstd.is_error(zstd.set(state, ZSTD_WINDOW_LOG_MAX, ZSTD_LARGEST_WINDOW_LOG))) {
        zstd.destroy(state);
        return NULL;
    }
    return state;
}

LHDecompressor *lh_decompressor_create(int coding) {
    if (!lh_coding_is_available(coding)) return NULL;
    LHDecompressor *decompressor = malloc(sizeof *decompressor);
    if (!decompressor) return NULL;
    decompressor->coding = coding;
    decompressor->state = coding == LH_CODING_BROTLI ? brotli.create(NULL, NULL, NULL) : create_zstd();
    if (decompressor->state) return decompressor;
    free(decompressor);
    return NULL;
}

void lh_decompressor_destroy(LHDecompressor *decompressor) {
    if (decompressor->coding == LH_CODING_BROTLI) {
        brotli.destroy(decompressor->state);
    } else {
        zstd.destroy(decompressor->state);
    }
    free(decompressor);
}

static LHDecompression decompress_brotli(void *state, const uint8_t *input, size_t count, uint8_t *output,
                                         size_t capacity) {
    size_t input_left = count, output_left = capacity;
    int result = brotli.decompress(state, &input_left, &input, &output_left, &output, NULL);
    LHDecompression decompression = {count - input_left, capacity - output_left, LH_DECOMPRESS_MORE};
    if (result == BROTLI_SUCCESS) decompression.outcome = LH_DECOMPRESS_END;
    if (result == BROTLI_ERROR) {
        int error = brotli.error(state);
        int is_memory = error >= BROTLI_FIRST_MEMORY_ERROR && error <= BROTLI_LAST_MEMORY_ERROR;
        decompression.outcome = is_memory ? LH_DECOMPRESS_MEMORY : LH_DECOMPRESS_CORRUPT;
    }
    return decompression;
}

static LHDecompression decompress_zstd(void *state, const uint8_t *input, size_t count, uint8_t *output,
                                       size_t capacity) {
    zstd_input source = {input, count, 0};
    zstd_output target = {output, capacity, 0};
    size_t result = zstd.decompress(state, &target, &source);
    LHDecompression decompression = {source.position, target.position, LH_DECOMPRESS_MORE};
    if (zstd.is_error(result)) {
        int error = zstd.error(result);
        decompression.outcome = error == ZSTD_ERROR_WINDOW   ? LH_DECOMPRESS_WINDOW
                                : error == ZSTD_ERROR_MEMORY ? LH_DECOMPRESS_MEMORY
                                                             : LH_DECOMPRESS_CORRUPT;
    } else if (result == 0) {
        decompression.outcome = LH_DECOMPRESS_END;
    }
    return decompression;
}

LHDecompression lh_decompress(LHDecompressor *decompressor, const uint8_t *input, size_t count, uint8_t *output,
                              size_t capacity) {
    return decompressor->coding == LH_CODING_BROTLI
               ? decompress_brotli(decompressor->state, input, count, output, capacity)
               : decompress_zstd(decompressor->state, input, count, output, capacity);
}

#else

// Elsewhere the system's own loader decompresses them.
int lh_coding_is_available(int coding) {
    (void)coding;
    return 0;
}

LHDecompressor *lh_decompressor_create(int coding) {
    (void)coding;
    return NULL;
}

void lh_decompressor_destroy(LHDecompressor *decompressor) { (void)decompressor; }

LHDecompression lh_decompress(LHDecompressor *decompressor, const uint8_t *input, size_t count, uint8_t *output,
                              size_t capacity) {
    (void)decompressor, (void)input, (void)count, (void)output, (void)capacity;
    return (LHDecompression){0, 0, LH_DECOMPRESS_CORRUPT};
}

#endif
