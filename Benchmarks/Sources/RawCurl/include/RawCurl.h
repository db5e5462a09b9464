// SPDX-License-Identifier: MIT
// The floor of the transport's benchmarks: what a program in C does over libcurl's multi interface, and no more.
#ifndef LETTERHEAD_RAW_CURL_H
#define LETTERHEAD_RAW_CURL_H

#if defined(__linux__)

typedef struct RawLoop RawLoop;

/// A loop that gets one URL, so many times at once; NULL when there is no memory. Its handles and connections are kept
/// from run to run. With http2, the server is offered HTTP/2, and a request waits for a connection that may carry it.
RawLoop *_Nullable raw_loop_make(const char *_Nonnull url, int width, const char *_Nullable roots, int http2);
/// Gets the URL so many times, and says how often the answer was 200 with a body, which was kept until the next.
long raw_loop_run(RawLoop *_Nonnull loop, long count);
void raw_loop_free(RawLoop *_Nonnull loop);

/// Gets a URL with a receive buffer of so many bytes, discards the body, and returns how many bytes came; -1 is failure.
long raw_download(const char *_Nonnull url, long buffer);
/// Sends a file with PUT, and says whether the answer was 200.
int raw_upload(const char *_Nonnull url, const char *_Nonnull path, long size);

#endif
#endif
