#!/usr/bin/env bash
# Sends requests over HTTP/3 to Caddy, with the libcurl of Debian's backports that supports it. Both are downloaded; nothing is
# installed. Prints SKIPPED and the reason where they cannot be had.
#
#   Tests/Scripts/http3.sh [FOLDER]     default: .build/http3
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "${1:-.build/http3}"
folder=$(cd "${1:-.build/http3}" && pwd)
skip() { echo "SKIPPED: $1"; exit 0; }

mkdir -p "$folder/lib"
for package in libcurl3-gnutls libnghttp3-9 libngtcp2-16 libngtcp2-crypto-gnutls8; do
    root=$(Tests/Scripts/debian-package.sh $package -backports "$folder/$package")
    case $root in SKIPPED*) echo "$root" && exit 0 ;; esac
    find "$root" -name "lib*.so.*" -exec cp -a {} "$folder/lib/" \;
done
library=$folder/lib/libcurl-gnutls.so.4
[ -e "$library" ] || skip "the package has no libcurl-gnutls.so.4"
! LD_LIBRARY_PATH=$folder/lib ldd "$library" | grep -q "not found" || skip "the library needs others that are not installed"
root=$(Tests/Scripts/debian-package.sh caddy "" "$folder/caddy")
case $root in SKIPPED*) echo "$root" && exit 0 ;; esac
command -v openssl >/dev/null || skip "openssl is not installed"

libraries=":libcurl-gnutls.so.4 :libgnutls.so.30 :libz.so.1"
LETTERHEAD_LIBRARIES=$libraries swift build --package-path Tests/HTTP3 --scratch-path "$folder/build" \
    -Xlinker "-L$folder/lib"
program=$(LETTERHEAD_LIBRARIES=$libraries \
    swift build --package-path Tests/HTTP3 --scratch-path "$folder/build" --show-bin-path)/http3

site=$(mktemp -d)
trap 'kill $(cat "$site/pid" 2>/dev/null) 2>/dev/null || true; rm -rf "$site"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$site/key.pem" -out "$site/certificate.pem" 2>/dev/null
mkdir "$site/files"
head -c 30000000 /dev/urandom >"$site/files/large"
port=$((20000 + RANDOM % 20000))
cat >"$site/Caddyfile" <<END
{
    admin off
    auto_https off
}
https://localhost:$port {
    tls $site/certificate.pem $site/key.pem
    root * $site/files
    respond /echo "{http.request.body}"
    respond /teapot "short and stout" 418
    file_server
}
END
XDG_DATA_HOME=$site XDG_CONFIG_HOME=$site "$root/usr/bin/caddy" run --config "$site/Caddyfile" --adapter caddyfile >"$site/log" 2>&1 &
echo $! >"$site/pid"
for _ in $(seq 50); do
    (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null && break
    sleep 0.1
done
LD_LIBRARY_PATH=$folder/lib timeout 120 "$program" "https://localhost:$port" "$site/certificate.pem" "$site/files/large" \
    "$(cat "$site/pid")" || { tail -5 "$site/log" && exit 1; }
