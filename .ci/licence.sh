#!/usr/bin/env bash
# Lists the Swift and C files that do not begin with the licence line, and fails if there are any. A manifest is not one of
# them, because it begins with the version of its tools.
#
#   .ci/licence.sh                  every source
#   .ci/licence.sh --add [FOLDER…]  adds the line where it is missing
set -euo pipefail
cd "$(dirname "$0")/.."
line='// SPDX-License-Identifier: MIT'
action=list
if [ "${1-}" = --add ]; then action=add && shift; fi
[ $# -gt 0 ] || set -- Sources Tests Examples Benchmarks Adapters

missing=0
while IFS= read -r file; do
    [ "$(head -n 1 "$file")" != "$line" ] || continue
    if [ $action = add ]; then
        text=$(<"$file") && printf '%s\n%s\n' "$line" "$text" >"$file"
    else
        echo "error: $file does not begin with the licence line" && missing=1
    fi
done < <(find "$@" -type d -name '.build*' -prune -o -type f -name '*.[ch]' -print -o -type f -name '*.swift' \
    ! -name Package.swift -print | sort)
[ $missing -eq 0 ] || { echo "add it with .ci/licence.sh --add" && exit 1; }
