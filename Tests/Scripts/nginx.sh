#!/usr/bin/env bash
# Makes an nginx with HTTP/2 and TLS available to the tests, on Debian. Nothing is installed or started. Prints its path, or
# SKIPPED and the reason.
#
#   LETTERHEAD_NGINX=$(Tests/Scripts/nginx.sh) swift test --filter HTTP2Tests
set -uo pipefail
cd "$(dirname "$0")/../.."
is_usable() {
    modules=$("$1" -V 2>&1) && [[ $modules == *http_v2_module* && $modules == *http_ssl_module* ]]
}

installed=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx) && is_usable "$installed" && echo "$installed" && exit 0
root=$(Tests/Scripts/debian-package.sh nginx "" .build/nginx)
case $root in SKIPPED*) echo "$root" && exit 0 ;; esac
is_usable "$root/usr/sbin/nginx" || { echo "SKIPPED: the nginx of the package cannot be used" && exit 0; }
echo "$root/usr/sbin/nginx"
