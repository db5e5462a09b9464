# What the stages share that run under the thread sanitizer: a race that is there on purpose is caught by it.
source "$(dirname "${BASH_SOURCE[0]}")/stage.sh"

# The build takes less time without debug information; the reports still name the functions.
sanitized=(--sanitize=thread -debug-info-format none --scratch-path .build/sanitizer)
# What the sanitizer needs to know of Swift's mutexes.
preload=
if [ "$(uname)" = Linux ]; then
    preload=$scratch/contended-mutexes.so
    clang -shared -fPIC -O1 -Wall -Werror .ci/contended-mutexes.c -o "$preload" -ldl
fi
swiftc -sanitize=thread -swift-version 5 .ci/seeded-race.swift -o "$scratch/seeded-race"
if LD_PRELOAD=$preload "$scratch/seeded-race" >"$scratch/race" 2>&1 ||
    ! grep -qE "ThreadSanitizer: .*race" "$scratch/race"; then
    cat "$scratch/race"
    echo "the seeded race was not caught: the sanitizer sees nothing here"
    exit 1
fi
echo "the seeded race was caught"
