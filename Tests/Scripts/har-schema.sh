#!/usr/bin/env bash
# Has HTTP Archives of FlightRecorder, Cassette and RequestSnapshot validated against the schema of HAR 1.2, and read by a parser
# that others wrote, both installed into a temporary environment.
# Says SKIPPED and ends well where there is no Python, or no network to install them from.
set -uo pipefail
cd "$(dirname "$0")/../.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
packages=(jsonschema==4.26.0 haralyzer==2.4.0 rfc3987-syntax==1.1.0 rfc3339-validator==0.1.4)

if ! python3 -m venv "$environment" >/dev/null 2>&1; then
    echo "SKIPPED: there is no python3 with venv"
    exit 0
fi
if ! timeout 300 "$environment/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >/dev/null 2>&1; then
    echo "SKIPPED: the packages cannot be installed (no network?)"
    exit 0
fi
LETTERHEAD_HAR_PYTHON=$environment/bin/python timeout 600 swift test --skip-build --filter HARSchemaTests 2>&1 |
    tee "$environment/log" | grep -aE "archives|\.har:|error:|Test run with"
[ "${PIPESTATUS[0]}" -eq 0 ] && grep -aqE "archives, [1-9][0-9]* entries, 0 faults" "$environment/log"
