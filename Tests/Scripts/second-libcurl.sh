#!/usr/bin/env bash
# Makes a newer libcurl available to the tests, beside the system's, on Debian: the one of the backports. Nothing is
# installed. Prints the folder of the library, or SKIPPED and the reason.
#
#   Tests/Scripts/second-libcurl.sh [FOLDER]     default: .build/libcurl
set -uo pipefail
cd "$(dirname "$0")/../.."
root=$(Tests/Scripts/debian-package.sh libcurl4 -backports "${1:-.build/libcurl}")
skip() { echo "SKIPPED: $1"; exit 0; }

case $root in SKIPPED*) echo "$root" && exit 0 ;; esac
library=$(find "$root" -name libcurl.so.4 | head -1)
[ -n "$library" ] || skip "the package has no libcurl.so.4"
directory=$(dirname "$library")
if LD_LIBRARY_PATH=$directory ldd "$library" 2>/dev/null | grep -q "not found"; then
    skip "the library needs others that are not installed"
fi
echo "$directory"
