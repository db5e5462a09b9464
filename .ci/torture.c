// Lets the n-th call of a family fail, on Linux, in a program that this library is preloaded into, and that begins and ends
// the time in which calls count (`transport-stress torture`).
//
// Allocations count only if libcurl or zlib makes them, because the runtime of Swift ends a process without memory. Other
// calls count, whether Letterhead, libcurl or Foundation makes them, but not inside the C library, nor in Dispatch, which
// ends the process. Reading and writing count for files only: the descriptors that wake threads cannot fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum family { NONE, MEMORY, DESCRIPTOR, CONNECT, SEND, RECEIVE, OPEN, WRITE, READ, SYNC, RENAME };
static _Atomic int counted = NONE;
static _Atomic long count;
// With the error 0, a call transfers one byte of several.
static int error, lasts;
static long number;
static struct range { const char *library; uintptr_t start, end; } ranges[] = {
    {"/libcurl.so", 0, 0}, {"/libz.so", 0, 0}, {"/libdispatch.so", 0, 0}};

static int note(struct dl_phdr_info *info, size_t size, void *context) {
    for (struct range *range = ranges; range < ranges + 3; range++)
        for (int part = 0; strstr(info->dlpi_name, range->library) && part < info->dlpi_phnum; part++)
            if (info->dlpi_phdr[part].p_flags & PF_X && info->dlpi_phdr[part].p_type == PT_LOAD) {
                range->start = info->dlpi_addr + info->dlpi_phdr[part].p_vaddr;
                range->end = range->start + info->dlpi_phdr[part].p_memsz;
            }
    return 0;
}

// Fails the call with this number from now on. With a negative error, all later calls fail, too.
void torture_begin(int family, long first, int code) {
    dl_iterate_phdr(note, NULL);
    number = first, error = abs(code), lasts = code < 0, count = 0, counted = family;
}

// Returns how many calls were made.
long torture_end(void) { return counted = NONE, count; }

static _Bool is_in(int index, uintptr_t caller) { return caller >= ranges[index].start && caller < ranges[index].end; }
static _Bool fails(enum family family, uintptr_t caller) {
    if (counted != (int)family) return 0;
    if (family == MEMORY ? !is_in(0, caller) && !is_in(1, caller) : is_in(2, caller)) return 0;
    const long call = atomic_fetch_add(&count, 1) + 1;
    if (call != number && !(lasts && call > number)) return 0;
    errno = error;
    return 1;
}
static _Bool is_file(int descriptor) {
    struct stat facts;
    return fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t size) { return fails(MEMORY, CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t many, size_t size) { return fails(MEMORY, CALLER) ? NULL : __libc_calloc(many, size); }
void *realloc(void *old, size_t size) { return fails(MEMORY, CALLER) ? NULL : __libc_realloc(old, size); }
char *strdup(const char *text) {
    void *copy = fails(MEMORY, CALLER) ? NULL : __libc_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(family, type, name, parameters, arguments) \
    type name parameters { return fails(family, CALLER) ? -1 : NEXT(name) arguments; }
#define TRANSFER(family, condition, name, parameters, arguments) \
    ssize_t name parameters { \
        if ((condition) && fails(family, CALLER)) { \
            if (error) return -1; \
            size = size > 0; \
        } \
        return NEXT(name) arguments; \
    }
CALL(DESCRIPTOR, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
CALL(DESCRIPTOR, int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
CALL(DESCRIPTOR, int, pipe, (int ends[2]), (ends))
CALL(DESCRIPTOR, int, eventfd, (unsigned int value, int flags), (value, flags))
CALL(DESCRIPTOR, int, epoll_create1, (int flags), (flags))
CALL(DESCRIPTOR, int, dup, (int other), (other))
CALL(CONNECT, int, connect, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
TRANSFER(SEND, 1, send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags))
TRANSFER(RECEIVE, 1, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
TRANSFER(WRITE, is_file(fd), write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
TRANSFER(READ, is_file(fd), read, (int fd, void *bytes, size_t size), (fd, bytes, size))
TRANSFER(READ, is_file(fd), pread, (int fd, void *bytes, size_t size, off_t from), (fd, bytes, size, from))
CALL(WRITE, int, ftruncate, (int fd, off_t size), (fd, size))
CALL(SYNC, int, fsync, (int fd), (fd))
CALL(RENAME, int, rename, (const char *old, const char *new), (old, new))

// Each of these takes one more argument, if any. If it is missing, the value that is passed on is not read.
#define VARIADIC(name, family, condition, parameters, ...) \
    int name parameters { \
        va_list more; \
        va_start(more, last); \
        void *rest = va_arg(more, void *); \
        va_end(more); \
        return (condition) && fails(family, CALLER) ? -1 : NEXT(name)(__VA_ARGS__, last, rest); \
    }
VARIADIC(open, OPEN, 1, (const char *path, int last, ...), path)
VARIADIC(openat, OPEN, 1, (int folder, const char *path, int last, ...), folder, path)
VARIADIC(fcntl, DESCRIPTOR, last == F_DUPFD || last == F_DUPFD_CLOEXEC, (int fd, int last, ...), fd)
