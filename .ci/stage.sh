# What the stages share. Each stage is a program in .ci/stages that sources this file, and can be run alone. The first
# command that fails ends it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

# The modules of the products.
modules=($(cd Sources && ls -d Letterhead* | grep -v Foundation))
# Another set of flags would build everything again, so each command that builds in .build has these.
strict=(-Xswiftc -warnings-as-errors -Xcc -Werror)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

build() { swift build "${strict[@]}" --build-tests; }

# Ends a stage, or says what it leaves out, if something is missing here. The driver repeats the line at its end.
skip() { skipped "$1" && exit 0; }
skipped() { echo "SKIPPED: ${1#SKIPPED: }"; }
on_linux() { [ "$(uname)" = Linux ] || skip "$1"; }

# Runs a command, and writes what it prints to a file, too. What it may leave behind is not waited for, as a pipe would.
shown() {
    local file=$1 status=0
    shift
    # In a group: otherwise, bash opens the pipe in the process of the command, and doesn't know the one of tee.
    { "$@"; } > >(exec tee "$file") 2>&1 || status=$?
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "${!-}" 2>/dev/null || break
        sleep 0.2
    done
    return $status
}

# Runs tests with a limit in seconds, prints the closing line of their runner once more, and refuses a run without tests.
run_tests() {
    local seconds=$1
    shift
    # A caller that handles a failure turns off what ends a script otherwise.
    shown "$scratch/tests.log" timeout --kill-after=10 "$seconds" swift test "$@" || return
    grep -aE "Test run with [1-9][0-9]* tests?.* passed" "$scratch/tests.log"
}
