#include "RawCurl.h"

#if defined(__linux__)

#include "CLibcurl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int curl_multi_perform(LHCurlMulti *multi, int *running);
int curl_multi_poll(LHCurlMulti *multi, void *extra, unsigned int extra_count, int milliseconds, int *ready);
int curl_easy_perform(LHCurlEasy *easy);

enum { INFO_STATUS = 0x200000 + 2, ROOM = 4096, HTTP_1_1 = 2 };

typedef struct {
    LHCurlEasy *easy;
    size_t count;
    char body[ROOM];
} RawTransfer;

struct RawLoop {
    LHCurlMulti *multi;
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

RawLoop *raw_loop_make(const char *url, int width, const char *roots) {
    RawLoop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->multi = curl_multi_init();
    loop->transfers = calloc((size_t)width, sizeof *loop->transfers);
    loop->width = loop->transfers ? width : 0;
    int failed = !loop->multi || !loop->transfers;
    for (int index = 0; index < loop->width; index++) {
        RawTransfer *transfer = &loop->transfers[index];
        transfer->easy = curl_easy_init();
        if (!transfer->easy) {
            failed = 1;
            continue;
        }
        failed |= lh_curl_set_string(transfer->easy, CurlOptionAddress, url);
        failed |= lh_curl_set_long(transfer->easy, CurlOptionNoSignal, 1);
        failed |= roots && lh_curl_set_string(transfer->easy, CurlOptionCAInfo, roots);
        failed |= lh_curl_set_long(transfer->easy, CurlOptionHTTPVersion, HTTP_1_1);
        failed |= lh_curl_set_pointer(transfer->easy, CurlOptionPrivate, transfer);
        failed |= lh_curl_set_write(transfer->easy, keep, transfer);
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
        int running = 0, result = 0, ready = 0;
        if (curl_multi_perform(loop->multi, &running)) return good;
        LHCurlEasy *easy;
        int finished = 0;
        while ((easy = lh_curl_next_finished(loop->multi, &result))) {
            const char *context = NULL;
            long status = 0;
            lh_curl_get_long(easy, INFO_STATUS, &status);
            lh_curl_get_string(easy, CurlInfoPrivate, &context);
            RawTransfer *transfer = (RawTransfer *)context;
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
    LHCurlEasy *easy = curl_easy_init();
    if (!easy) return -1;
    int failed = lh_curl_set_string(easy, CurlOptionAddress, url);
    failed |= lh_curl_set_long(easy, CurlOptionNoSignal, 1);
    failed |= lh_curl_set_long(easy, CurlOptionBufferSize, buffer);
    failed |= lh_curl_set_write(easy, discard, &received);
    failed = failed || curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return failed ? -1 : received;
}

static size_t fill(char *bytes, size_t size, size_t count, void *context) {
    ssize_t got = read(*(int *)context, bytes, size * count);
    return got < 0 ? CURL_READ_ABORT : (size_t)got;
}

int raw_upload(const char *url, const char *path, long size) {
    long status = 0, answered = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    LHCurlEasy *easy = curl_easy_init();
    if (file < 0 || !easy) return 0;
    struct curl_slist expect = {"Expect:", NULL};
    int failed = lh_curl_set_string(easy, CurlOptionAddress, url);
    failed |= lh_curl_set_long(easy, CurlOptionNoSignal, 1);
    failed |= lh_curl_set_long(easy, CurlOptionUpload, 1);
    failed |= lh_curl_set_pointer(easy, CurlOptionHTTPHeader, &expect);
    failed |= lh_curl_set_offset(easy, CurlOptionUploadSize, size);
    failed |= lh_curl_set_read(easy, fill, &file);
    failed |= lh_curl_set_write(easy, discard, &answered);
    failed = failed || curl_easy_perform(easy);
    lh_curl_get_long(easy, INFO_STATUS, &status);
    curl_easy_cleanup(easy);
    close(file);
    return !failed && status == 200;
}

#endif
