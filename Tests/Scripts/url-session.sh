#!/usr/bin/env bash
# That code for URLSession runs over Letterhead on Linux only: a package with an older floor than that of Letterhead and
# old tools builds and passes its tests with both spellings of the dependency, and as another platform reads the second
# manifest, it doesn't name Letterhead. Without the trait, the compiler names it. One program does the same over both
# sessions, against a hostile server.
#
#   Tests/Scripts/url-session.sh [folder for the builds]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(uname)" = Linux ] || { echo "SKIPPED: the packages are about Linux" && exit 0; }
scratch=${1:-.build/url-session}

# The texts of a manifest as the compiler reads it for a platform. It doesn't need the libraries of that platform.
read_for() {
    # It fails, because the module of manifests is missing, but writes what it has read.
    { swiftc -frontend -parse-stdlib -dump-ast -swift-version 5 -target "$1" Tests/LinuxOnly/manifest/Package.swift \
        2>/dev/null || true; } | grep -oE 'value="[A-Za-z]*"' | sort -u | xargs
}

for spelling in condition manifest; do
    echo "--- $spelling"
    # Otherwise the tests of the package before would be run again.
    rm -f "$scratch"/*/debug/description.json
    swift test --package-path "Tests/LinuxOnly/$spelling" --scratch-path "$scratch" -debug-info-format none \
        >"$scratch.log" 2>&1 || { tail -40 "$scratch.log" && exit 1; }
    grep -m 1 "Executed 4 tests, with 0 failures" "$scratch.log"
done
for target in arm64-apple-macosx15.0 arm64-apple-ios18.0; do
    names=$(read_for "$target")
    [[ $names == *Forecasts* && $names != *Letterhead* ]] || { echo "error: for $target, it has $names" && exit 1; }
    echo "for $target, the second manifest has no Letterhead:" $names
done
[[ $(read_for x86_64-unknown-linux-gnu) == *Letterhead* ]]

echo "--- without the trait"
errors=$(swiftc -typecheck -swift-version 6 Sources/LetterheadURLSession/*.swift 2>&1 | grep -E "^[^ ].*error:" || true)
[ "$(wc -l <<<"$errors")" = 1 ] && grep -o "LetterheadURLSession needs the trait Foundation" <<<"$errors"

echo "--- both sessions"
package=(--package-path Tests/BothSessions --scratch-path "$scratch" -debug-info-format none)
swift build "${package[@]}" 2>&1 | tail -2
"$(swift build "${package[@]}" --show-bin-path)/sessions"
