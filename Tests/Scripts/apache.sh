#!/usr/bin/env bash
# Makes an Apache with digest authentication available to the tests, on Debian. Nothing is installed or started. Prints the path
# of a program, or SKIPPED and the reason. The program defines MODULES for its configuration, the folder of its modules.
#
#   LETTERHEAD_APACHE=$(Tests/Scripts/apache.sh) swift test --filter ApacheDigestTests
set -uo pipefail
cd "$(dirname "$0")/../.."
unpacked() {
    for package in "$@"; do
        root=$(Tests/Scripts/debian-package.sh "$package" "" ".build/apache/$package")
        case $root in SKIPPED*) continue ;; esac
        echo "$root" && return 0
    done
    echo "$root" && return 1
}

# Libraries have another name in later releases of Debian.
server=$(unpacked apache2-bin) || { echo "$server" && exit 0; }
runtime=$(unpacked libapr1t64 libapr1) || { echo "$runtime" && exit 0; }
utilities=$(unpacked libaprutil1t64 libaprutil1) || { echo "$utilities" && exit 0; }
libraries=$(find "$runtime" "$utilities" -name 'libapr*.so*' -printf '%h\n' | sort -u | paste -sd:)
program=$PWD/.build/apache/apache
cat >"$program" <<PROGRAM
#!/bin/sh
export LD_LIBRARY_PATH="$libraries"
exec "$server/usr/sbin/apache2" -C "Define MODULES $server/usr/lib/apache2/modules" "\$@"
PROGRAM
chmod +x "$program"
"$program" -v >/dev/null 2>&1 || { echo "SKIPPED: the Apache of the package cannot be used" && exit 0; }
echo "$program"
