#!/usr/bin/env bash
# Makes a newer libcurl available to the tests, beside the system's, on Debian: downloads the package from the backports of
# the installed release and unpacks it. Nothing is installed. Prints the folder of the library, or SKIPPED and the reason.
#
#   Tests/Scripts/second-libcurl.sh [FOLDER]     default: .build/libcurl
set -uo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-.build/libcurl}
skip() { echo "SKIPPED: $1"; exit 0; }

find_library() { find "$folder/root" -name libcurl.so.4 2>/dev/null | head -1; }
library=$(find_library)
if [ -z "$library" ]; then
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "apt-get and dpkg are not installed"
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    source=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -1)
    [ -n "$source" ] || source=$(awk '$1 == "deb" && $2 !~ /^\[/ { print $2; exit }' /etc/apt/sources.list 2>/dev/null)
    [ -n "$release" ] && [ -n "$source" ] || skip "the system names no Debian release or no package source"
    rm -rf "$folder" && mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
    folder=$(cd "$folder" && pwd)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $source $release-backports main" >"$folder/sources"
    options=(-o "Dir::Etc::sourcelist=$folder/sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists"
        -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
    timeout 60 apt-get "${options[@]}" update >"$folder/log" 2>&1 || skip "the package lists cannot be read"
    (cd "$folder" && timeout 60 apt-get "${options[@]}" download -t "$release-backports" libcurl4 >>log 2>&1) ||
        skip "the package cannot be downloaded"
    dpkg -x "$folder"/libcurl4_*.deb "$folder/root" || skip "the package cannot be unpacked"
    library=$(find_library)
fi
[ -n "$library" ] || skip "the package has no libcurl.so.4"
directory=$(cd "$(dirname "$library")" && pwd)
if LD_LIBRARY_PATH=$directory ldd "$library" 2>/dev/null | grep -q "not found"; then
    skip "the library needs others that are not installed"
fi
echo "$directory"
