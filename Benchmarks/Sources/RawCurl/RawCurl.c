// SPDX-License-Identifier: MIT
#include "RawCurl.h"

#if defined(__linux__)

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Declarations of what is used here of libcurl's binary interface, whose header need not be installed.
typedef struct Easy Easy;
typedef struct Multi Multi;

typedef struct {
    int kind;
    Easy *easy;
    union {
        void *pointer;
        int result;
    } data;
} Message;

typedef struct Lines {
    char *data;
    struct Lines *next;
} Lines;

Easy *curl_easy_init(void);
void curl_easy_cleanup(Easy *easy);
int curl_easy_setopt(Easy *easy, int option, ...);
int curl_easy_getinfo(Easy *easy, int info, ...);
int curl_easy_perform(Easy *easy);
Multi *curl_multi_init(void);
int curl_multi_cleanup(Multi *multi);
int curl_multi_setopt(Multi *multi, int option, ...);
int curl_multi_add_handle(Multi *multi, Easy *easy);
int curl_multi_remove_handle(Multi *multi, Easy *easy);
int curl_multi_perform(Multi *multi, int *running);
int curl_multi_poll(Multi *multi, void *extra, unsigned int extra_count, int milliseconds, int *ready);
Message *curl_multi_info_read(Multi *multi, int *left);

enum {
    UPLOAD = 46, HTTP_VERSION = 84, BUFFER_SIZE = 98, NO_SIGNAL = 99,
    WRITE_DATA = 10001, URL = 10002, READ_DATA = 10009, HTTP_HEADER = 10023, CA_INFO = 10065, PRIVATE = 10103,
    WRITE_FUNCTION = 20011, READ_FUNCTION = 20012, UPLOAD_SIZE = 30115,
    INFO_STATUS = 0x200000 + 2, INFO_PRIVATE = 0x100000 + 21,
    PIPE_WAIT = 237, MULTI_STREAMS = 16, FINISHED = 1, HTTP_1_1 = 2, HTTP_2_TLS = 4, READ_ABORT = 0x10000000, ROOM = 4096,
};

typedef struct {
    Easy *easy;
    size_t count;
    char body[ROOM];
} RawTransfer;

struct RawLoop {
    Multi *multi;
    int width;
    RawTransfer *transfers;
};

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    RawTransfer *transfer = context;
    if (transfer->count + size * count > ROOM) return 0;
    memcpy(transfer->body + transfer->count, bytes, size * count);
    transfer->count += size * count;
    return size * count;
}

void raw_loop_free(RawLoop *loop) {
    for (int index = 0; index < loop->width; index++) {
        if (loop->transfers[index].easy) curl_easy_cleanup(loop->transfers[index].easy);
    }
    if (loop->multi) curl_multi_cleanup(loop->multi);
    free(loop->transfers);
    free(loop);
}

RawLoop *raw_loop_make(const char *url, int width, const char *roots, int http2) {
    RawLoop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->multi = curl_multi_init();
    loop->transfers = calloc((size_t)width, sizeof *loop->transfers);
    loop->width = loop->transfers ? width : 0;
    int failed = !loop->multi || !loop->transfers || curl_multi_setopt(loop->multi, MULTI_STREAMS, 1000L);
    for (int index = 0; index < loop->width; index++) {
        RawTransfer *transfer = &loop->transfers[index];
        transfer->easy = curl_easy_init();
        if (!transfer->easy) {
            failed = 1;
            continue;
        }
        failed |= curl_easy_setopt(transfer->easy, URL, url);
        failed |= curl_easy_setopt(transfer->easy, NO_SIGNAL, 1L);
        failed |= roots && curl_easy_setopt(transfer->easy, CA_INFO, roots);
        failed |= curl_easy_setopt(transfer->easy, HTTP_VERSION, (long)(http2 ? HTTP_2_TLS : HTTP_1_1));
        failed |= curl_easy_setopt(transfer->easy, PIPE_WAIT, (long)http2);
        failed |= curl_easy_setopt(transfer->easy, PRIVATE, transfer);
        failed |= curl_easy_setopt(transfer->easy, WRITE_FUNCTION, keep);
        failed |= curl_easy_setopt(transfer->easy, WRITE_DATA, transfer);
    }
    if (!failed) return loop;
    raw_loop_free(loop);
    return NULL;
}

static int start(RawLoop *loop, RawTransfer *transfer) {
    transfer->count = 0;
    return curl_multi_add_handle(loop->multi, transfer->easy);
}

long raw_loop_run(RawLoop *loop, long count) {
    long started = 0, done = 0, good = 0;
    for (; started < loop->width && started < count; started++) {
        if (start(loop, &loop->transfers[started])) return good;
    }
    while (done < count) {
        int running = 0, left = 0, ready = 0;
        if (curl_multi_perform(loop->multi, &running)) return good;
        Message *message;
        int finished = 0;
        while ((message = curl_multi_info_read(loop->multi, &left))) {
            if (message->kind != FINISHED) continue;
            // The message is gone once its handle is removed.
            Easy *easy = message->easy;
            const int result = message->data.result;
            RawTransfer *transfer = NULL;
            long status = 0;
            curl_easy_getinfo(easy, INFO_STATUS, &status);
            curl_easy_getinfo(easy, INFO_PRIVATE, &transfer);
            good += !result && status == 200 && transfer->count > 0;
            curl_multi_remove_handle(loop->multi, easy);
            done++;
            finished = 1;
            if (started < count && !start(loop, transfer)) started++;
        }
        // What was started just now has not been sent yet.
        if (!finished && done < count) curl_multi_poll(loop->multi, NULL, 0, 1000, &ready);
    }
    return good;
}

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    *(long *)context += (long)(size * count);
    return size * count;
}

long raw_download(const char *url, long buffer) {
    long received = 0;
    Easy *easy = curl_easy_init();
    if (!easy) return -1;
    int failed = curl_easy_setopt(easy, URL, url);
    failed |= curl_easy_setopt(easy, NO_SIGNAL, 1L);
    failed |= curl_easy_setopt(easy, BUFFER_SIZE, buffer);
    failed |= curl_easy_setopt(easy, WRITE_FUNCTION, discard);
    failed |= curl_easy_setopt(easy, WRITE_DATA, &received);
    failed = failed || curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return failed ? -1 : received;
}

static size_t fill(char *bytes, size_t size, size_t count, void *context) {
    ssize_t got = read(*(int *)context, bytes, size * count);
    return got < 0 ? READ_ABORT : (size_t)got;
}

int raw_upload(const char *url, const char *path, long size) {
    long status = 0, answered = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Easy *easy = curl_easy_init();
    if (file < 0 || !easy) return 0;
    Lines expect = {"Expect:", NULL};
    int failed = curl_easy_setopt(easy, URL, url);
    failed |= curl_easy_setopt(easy, NO_SIGNAL, 1L);
    failed |= curl_easy_setopt(easy, UPLOAD, 1L);
    failed |= curl_easy_setopt(easy, HTTP_HEADER, &expect);
    failed |= curl_easy_setopt(easy, UPLOAD_SIZE, (int64_t)size);
    failed |= curl_easy_setopt(easy, READ_FUNCTION, fill);
    failed |= curl_easy_setopt(easy, READ_DATA, &file);
    failed |= curl_easy_setopt(easy, WRITE_FUNCTION, discard);
    failed |= curl_easy_setopt(easy, WRITE_DATA, &answered);
    failed = failed || curl_easy_perform(easy);
    curl_easy_getinfo(easy, INFO_STATUS, &status);
    curl_easy_cleanup(easy);
    close(file);
    return !failed && status == 200;
}

#endif
