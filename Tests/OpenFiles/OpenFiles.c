#include "OpenFiles.h"

#include <sys/resource.h>

__attribute__((constructor)) static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const rlim_t enough = 10240;  // As many as macOS allows.
    if (limit.rlim_cur >= enough) return;
    limit.rlim_cur = limit.rlim_max < enough ? limit.rlim_max : enough;
    setrlimit(RLIMIT_NOFILE, &limit);
}
