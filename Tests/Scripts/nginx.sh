#!/usr/bin/env bash
# Makes nginx available to the tests, on Debian. Nothing is installed or started. Prints its path, or SKIPPED and the reason.
#
#   LETTERHEAD_NGINX=$(Tests/Scripts/nginx.sh) swift test --filter HTTP2Tests
set -uo pipefail
cd "$(dirname "$0")/../.."
installed=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nginx) && echo "$installed" && exit 0
root=$(Tests/Scripts/debian-package.sh nginx "" "${1:-.build/nginx}")
case $root in SKIPPED*) echo "$root" && exit 0 ;; esac
nginx=$root/usr/sbin/nginx
"$nginx" -v 2>/dev/null || { echo "SKIPPED: nginx does not start" && exit 0; }
echo "$nginx"
