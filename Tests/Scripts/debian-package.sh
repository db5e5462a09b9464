#!/usr/bin/env bash
# Downloads a package of the installed Debian release and unpacks it. Nothing is installed. Prints the folder, or SKIPPED and
# the reason. The second time, only the folder is printed.
#
#   Tests/Scripts/debian-package.sh PACKAGE SUITE FOLDER     SUITE: "" for the release, "-backports" for its backports
set -uo pipefail
package=$1 suite=$2 folder=$3
skip() { echo "SKIPPED: $1"; exit 0; }

if [ ! -e "$folder/root" ]; then
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "apt-get and dpkg are not installed"
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    source=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -1)
    [ -n "$source" ] || source=$(awk '$1 == "deb" && $2 !~ /^\[/ { print $2; exit }' /etc/apt/sources.list 2>/dev/null)
    [ -n "$release" ] && [ -n "$source" ] || skip "the system names no Debian release or no package source"
    rm -rf "$folder" && mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" ||
        skip "the folder cannot be created"
    folder=$(cd "$folder" && pwd)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $source $release$suite main" >"$folder/sources"
    : >"$folder/status"  # What is installed does not matter.
    options=(-o "Dir::Etc::sourcelist=$folder/sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists"
        -o "Dir::State::status=$folder/status"
        -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
    timeout 60 apt-get "${options[@]}" update >"$folder/log" 2>&1 || skip "the package lists cannot be read"
    (cd "$folder" && timeout 60 apt-get "${options[@]}" download -t "$release$suite" "$package" >>log 2>&1) ||
        skip "the package cannot be downloaded"
    dpkg -x "$folder/$package"_*.deb "$folder/unpacked" && mv "$folder/unpacked" "$folder/root" ||
        skip "the package cannot be unpacked"
fi
(cd "$folder/root" && pwd)
