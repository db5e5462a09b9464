#!/usr/bin/env bash
# Prints how many files of the library one small GET through a client enters, as counted by code coverage.
#
#   Tests/Scripts/entered-files.sh [--list]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/Sources/OneGet"
cat >"$scratch/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "OneGet", platforms: [.macOS(.v15)], dependencies: [.package(name: "Letterhead", path: "$root")],
    targets: [
        .executableTarget(name: "OneGet", dependencies: [
            .product(name: "Letterhead", package: "Letterhead"),
            .product(name: "LetterheadTesting", package: "Letterhead"),
        ])
    ])
SWIFT
cat >"$scratch/Sources/OneGet/main.swift" <<'SWIFT'
import Foundation
import Letterhead
import LetterheadTesting

struct User: Decodable, Sendable { let login: String }

struct GetUser: RequestTemplate {
    typealias Response = User
    let login: String
    var path: RequestPath { "users/\(login)" }
}

let server = try await MockServer.start { _ in try .json(["login": "ada"]) }
let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
let user = try await client.send(GetUser(login: "ada").header("X-Trace", "1"))
precondition(user.login == "ada")
await server.stop()
SWIFT
cd "$scratch"
build() { swift build --scratch-path "$root/.build/entered" -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping "$@"; }
build >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" && exit 1; }
program=$(build --show-bin-path)/OneGet
LLVM_PROFILE_FILE=$scratch/get.profraw "$program"
tools=$(dirname "$(readlink -f "$(command -v swift)")")
"$tools/llvm-profdata" merge "$scratch/get.profraw" -o "$scratch/get.profdata"
"$tools/llvm-cov" export -summary-only -instr-profile="$scratch/get.profdata" "$program" >"$scratch/get.json"
python3 - "$scratch/get.json" "$root/Sources/Letterhead/" "${1-}" <<'PYTHON'
import json
import os
import sys

report, root, wish = sys.argv[1:4]
files = json.load(open(report))["data"][0]["files"]
ours = [file for file in files if os.path.realpath(file["filename"]).startswith(os.path.realpath(root) + os.sep)]
entered = sorted(file["filename"] for file in ours if file["summary"]["lines"]["covered"] > 0)
print(f"one small GET through a client enters {len(entered)} of {len(ours)} files of the library")
if wish == "--list":
    print("\n".join(os.path.relpath(name, root) for name in entered))
PYTHON
