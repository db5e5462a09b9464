#!/usr/bin/env bash
# Prints what a program for Linux costs that sends one GET: its size, stripped; the size of the libraries of the toolchain
# that it needs; the memory that it has written to when it is idle; and the time from its start to the first response. It is
# built in release mode with and without the trait Foundation, linked dynamically and with --static-swift-stdlib, beside a
# program that uses Foundation's URLSession.
#
#   Tests/Scripts/program-sizes.sh [SCRATCH]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mkdir -p "${1:-$root/.build/sizes}" && cd "${1:-$root/.build/sizes}" && pwd)
libraries=$scratch/libraries
# Foundation's networking asks the linker for libcurl by the name of its development package.
mkdir -p "$libraries"
for name in libcurl.so.4 libxml2.so.2; do
    found=$(ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }')
    [ -z "$found" ] || ln -sf "$found" "$libraries/${name%.*}"
done

manifest() { # name, dependency, product
    cat <<SWIFT
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "$1", platforms: [.macOS(.v15)], dependencies: [$2],
    targets: [.executableTarget(name: "get", dependencies: [$3], path: "Sources")])
SWIFT
}
for name in with without plain; do mkdir -p "$scratch/$name/Sources"; done
letterhead='.product(name: "Letterhead", package: "Letterhead")'
manifest with ".package(name: \"Letterhead\", path: \"$root\")" "$letterhead" >"$scratch/with/Package.swift"
manifest without ".package(name: \"Letterhead\", path: \"$root\", traits: [])" "$letterhead" >"$scratch/without/Package.swift"
manifest plain "" "" >"$scratch/plain/Package.swift"
for name in with without; do cp "$root/Examples/small/Sources/get/Get.swift" "$scratch/$name/Sources/"; done
cat >"$scratch/plain/Sources/Get.swift" <<'SWIFT'
import Foundation
import FoundationNetworking

@main
struct Get {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let (data, response) = try await URLSession.shared.data(from: URL(string: arguments[1])!)
        print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
        if arguments.count > 2 { try await Task.sleep(for: .seconds(Int(arguments[2]) ?? 0)) }
    }
}
SWIFT

for name in without with plain; do
    for linking in dynamic static; do
        options=(-c release -debug-info-format none --product get)
        options+=(--package-path "$scratch/$name" --scratch-path "$scratch/build-$name-$linking")
        [ $linking = dynamic ] || options+=(--static-swift-stdlib)
        [ $linking = dynamic ] || [ $name = without ] || options+=(-Xlinker "-L$libraries")
        rm -f "$scratch/$name-$linking"
        if swift build "${options[@]}" >"$scratch/log" 2>&1 </dev/null; then
            strip -o "$scratch/$name-$linking" "$scratch/build-$name-$linking/release/get"
        else
            echo "$name, $linking: $(grep -aE "error|cannot find" "$scratch/log" | head -1)"
        fi
    done
done

printf 'ok' >"$scratch/page"
python3 -u - "$scratch" <<'PYTHON' >"$scratch/port" &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.func.log_message = lambda *arguments: None
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
server=$!
trap 'kill $server' EXIT
until [ -s "$scratch/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$scratch/port")/page

echo "program, linking: stripped, libraries of the toolchain, written memory when idle, start to first response (median of 31)"
for name in without with plain; do
    for linking in dynamic static; do
        program=$scratch/$name-$linking
        [ -e "$program" ] || continue
        sync "$program"  # Pages that are not on disk yet would count as written.
        python3 - "$name, $linking" "$program" "$url" <<'PYTHON'
import os, pty, statistics, subprocess, sys, time
label, program, url = sys.argv[1:]
def start(*arguments):
    # A terminal, because a program writes each line to it at once.
    terminal, end = pty.openpty()
    begin = time.perf_counter()
    process = subprocess.Popen([program, url, *arguments], stdout=end)
    os.close(end)
    line = os.read(terminal, 100)
    elapsed = time.perf_counter() - begin
    assert line.split() == [b"200", b"2"], line
    return process, terminal, elapsed
def run():
    process, terminal, elapsed = start()
    process.wait()
    os.close(terminal)
    return elapsed
times = sorted(run() for _ in range(31))
idle, terminal, _ = start("2")
time.sleep(0.5)
rollup = open(f"/proc/{idle.pid}/smaps_rollup").read().splitlines()
private = sum(int(line.split()[1]) for line in rollup if line.startswith("Private_Dirty"))
idle.wait()
needed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
toolchain = [line.split()[2] for line in needed.splitlines() if "/swift/" in line]
size = sum(os.path.getsize(os.path.realpath(path)) for path in toolchain)
print(f"{label}: {os.path.getsize(program) / 1e6:.1f} MB, {size / 1e6:.1f} MB, {private / 1024:.1f} MiB, "
      f"{statistics.median(times) * 1000:.1f} ms ({times[0] * 1000:.1f} to {times[-1] * 1000:.1f})")
PYTHON
    done
done
