#!/usr/bin/env bash
# Compares signatures for AWS with botocore's, and sends requests to moto, which refuses wrong ones. Both are installed into
# a temporary environment if they aren't there. Says SKIPPED and ends well where they cannot be installed.
set -uo pipefail
cd "$(dirname "$0")/../.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
packages=(botocore==1.43.11 "moto[s3]==5.2.1" flask==3.1.3 flask-cors==6.0.2)

python=$(command -v python3) || { echo "SKIPPED: there is no python3" && exit 0; }
if ! "$python" -c "import botocore.auth, flask_cors, moto.server" >/dev/null 2>&1; then
    if ! "$python" -m venv "$environment" >/dev/null 2>&1; then
        echo "SKIPPED: there is no python3 with venv"
        exit 0
    fi
    python=$environment/bin/python
    pip=(timeout 600 "$environment/bin/pip" install --quiet --no-compile --disable-pip-version-check)
    if ! "${pip[@]}" "${packages[@]}" >/dev/null 2>&1; then
        echo "SKIPPED: botocore and moto cannot be installed (no network?)"
        exit 0
    fi
fi
LETTERHEAD_AWS_PYTHON=$python timeout --kill-after=10 300 swift test --skip-build --filter AWSPeersTests 2>&1 |
    tee "$environment/log" | grep -aE "AWS:|instead of|error:|Test run with"
[ "${PIPESTATUS[0]}" -eq 0 ] && grep -aq "requests and links, 0 differences" "$environment/log"
