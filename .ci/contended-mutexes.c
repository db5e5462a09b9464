// Tells the thread sanitizer about contended mutexes, on Linux. A Mutex of Swift's Synchronization takes its lock in code
// that the compiler instruments, but hands over a contended one inside the runtime's library, which is not instrumented: the
// sanitizer would report a race between any two threads that had to wait for each other. Preloaded into the tests, these
// three functions stand before the library's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Only a program that the sanitizer is part of has these.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

typedef SWIFT void (*lock_function)(uint32_t thread, SELF void *mutex);
typedef SWIFT _Bool (*try_lock_function)(SELF void *mutex);
typedef SWIFT void (*unlock_function)(SELF void *mutex);

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT _Bool try_lock(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT void unlock(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *mutex) {
    ((lock_function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT _Bool try_lock(SELF void *mutex) {
    const _Bool isLocked = ((try_lock_function)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (isLocked && __tsan_acquire) __tsan_acquire(mutex);
    return isLocked;
}

SWIFT void unlock(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((unlock_function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
