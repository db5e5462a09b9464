// SPDX-License-Identifier: MIT
#include "TestLimits.h"

#include <stdlib.h>
#include <sys/resource.h>

static void raise_open_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t enough = 10240;  // As many as macOS allows.
    if (limit.rlim_cur >= enough) return;
    limit.rlim_cur = limit.rlim_max < enough ? limit.rlim_max : enough;
    setrlimit(RLIMIT_NOFILE, &limit);
}

__attribute__((constructor)) static void set_limits(void) {
    raise_open_files();
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "48", 0);
}
