#!/usr/bin/env bash
# Has multipart bodies read by six parsers that others wrote, installed into a temporary environment.
# Says SKIPPED and ends well where there is no Python, or no network to install them from.
set -uo pipefail
cd "$(dirname "$0")/../.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
parsers=(python-multipart==0.0.34 werkzeug==3.1.9 django==5.2.19 starlette==1.10.0 aiohttp==3.14.5)

if ! python3 -m venv "$environment" >/dev/null 2>&1; then
    echo "SKIPPED: there is no python3 with venv"
    exit 0
fi
if ! timeout 300 "$environment/bin/pip" install --quiet --disable-pip-version-check "${parsers[@]}" >/dev/null 2>&1; then
    echo "SKIPPED: the parsers cannot be installed (no network?)"
    exit 0
fi
LETTERHEAD_PYTHON=$environment/bin/python timeout 600 swift test --skip-build --filter MultipartParsersTests 2>&1 |
    tee "$environment/log" | grep -aE "bodies|differs|should be|reads the spoilt|error:|Test run with"
[ "${PIPESTATUS[0]}" -eq 0 ] && grep -aq "bodies, 6 parsers, 0 differences" "$environment/log"
