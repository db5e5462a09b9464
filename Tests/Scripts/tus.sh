#!/usr/bin/env bash
# Makes a server of tus that others have written available to the tests: tuspyserver, in an environment of its own. Nothing
# is installed or started. Prints the path of its Python, or SKIPPED and the reason.
#
#   LETTERHEAD_NGINX=$(Tests/Scripts/nginx.sh) LETTERHEAD_TUS=$(Tests/Scripts/tus.sh) swift test --filter TusServerTests
set -uo pipefail
cd "$(dirname "$0")/../.."
folder=.build/tus
if [ ! -e $folder/ready ]; then
    command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed" && exit 0; }
    python3 -m venv $folder >/dev/null 2>&1 || { echo "SKIPPED: a Python environment cannot be created" && exit 0; }
    timeout 120 $folder/bin/pip install -q tuspyserver==4.4.3 uvicorn fastapi >$folder/log 2>&1 ||
        { echo "SKIPPED: tuspyserver cannot be downloaded" && exit 0; }
    touch $folder/ready
fi
echo "$PWD/$folder/bin/python"
