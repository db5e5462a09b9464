#!/usr/bin/env python3
"""Measures how long the compiler needs for 300 endpoints, beside 300 types of a plain protocol of the same shape.

    Tests/Scripts/endpoint-compile-time.py [MODULES]

MODULES is the folder of Letterhead.swiftmodule. Without it, the library is built first, as `.ci/run` does.

It prints the processor time of both and their ratio, and fails if the ratio exceeds the limit.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument("modules", type=pathlib.Path, nargs="?")
arguments.add_argument("--limit", type=float, default=1.1, help="the highest accepted ratio")
arguments.add_argument("--count", type=int, default=300, help="the number of types")
arguments.add_argument("--runs", type=int, default=3, help="the number of runs, of which the fastest counts")
options = arguments.parse_args()
if not options.modules:
    build = ["swift", "build", "-Xswiftc", "-warnings-as-errors", "-Xcc", "-Werror"]
    root = pathlib.Path(__file__).resolve().parents[2]
    subprocess.run([*build, "--target", "Letterhead"], check=True, cwd=root)
    shown = subprocess.run([*build, "--show-bin-path"], check=True, cwd=root, capture_output=True, text=True)
    options.modules = pathlib.Path(shown.stdout.strip()) / "Modules"

PLAIN = """
protocol Plain: Sendable {
    associatedtype Response: Sendable = HTTPResponse
    associatedtype Failure: Decodable & Sendable = Never
    associatedtype Body = EmptyBody
    var path: RequestPath { get }
    var baseURL: URL? { get }
    var method: HTTPMethod { get }
    var query: QueryParameters { get }
    var headers: HTTPHeaders { get }
    var parameters: RequestParameters { get }
    var body: Body { get }
    var boundary: String? { get }
    var acceptedStatuses: HTTPStatusSet? { get }
    var options: HTTPRequestOptions { get }
    func decode(_ response: HTTPResponse) async throws -> Response
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
}

extension Plain {
    var baseURL: URL? { nil }
    var method: HTTPMethod { .get }
    var query: QueryParameters { [:] }
    var headers: HTTPHeaders { [:] }
    var parameters: RequestParameters { [:] }
    var boundary: String? { nil }
    var acceptedStatuses: HTTPStatusSet? { nil }
    var options: HTTPRequestOptions { HTTPRequestOptions() }
    func decode<Value>(_ response: HTTPResponse) async throws -> Value { throw CancellationError() }
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
}

extension Plain where Body == EmptyBody {
    var body: EmptyBody { EmptyBody() }
}
"""

ENDPOINTS = (
    """struct Endpoint{n}: {protocol} {{
    typealias Response = Item
    let id: Int
    var path: RequestPath {{ "items/\\(id)" }}
}}
""",
    """struct Endpoint{n}: {protocol} {{
    typealias Response = [Item]
    let owner: String
    var path: RequestPath {{ "owners/\\(owner)/items" }}
    var query: QueryParameters {{ ["page": {n}] }}
}}
""",
    """struct Endpoint{n}: {protocol} {{
    typealias Response = Item
    let item: Item
    var method: HTTPMethod {{ .post }}
    var path: RequestPath {{ "items" }}
    var headers: HTTPHeaders {{ ["X-Trace": "{n}"] }}
    var body: some HTTPBody {{ JSONBody(item) }}
}}
""",
)


def compile_time(folder, protocol):
    """Returns the least processor time of a compilation in seconds."""
    head = "import Foundation\nimport Letterhead\n"
    folder.mkdir()
    (folder / "Shared.swift").write_text(
        head + "struct Item: Codable, Sendable { var name: String }\n" + (PLAIN if protocol == "Plain" else ""))
    for first in range(0, options.count, 30):
        numbers = range(first, min(first + 30, options.count))
        text = "".join(ENDPOINTS[n % len(ENDPOINTS)].format(n=n, protocol=protocol) for n in numbers)
        (folder / f"Endpoints{first}.swift").write_text(head + text)
    maps = [f"-fmodule-map-file={path}" for path in options.modules.parent.glob("*.build/module.modulemap")]
    command = ["swiftc", "-c", "-Onone", "-wmo", "-swift-version", "6", "-module-name", "Endpoints", "-I",
               str(options.modules), "-o", str(folder / "out.o")]
    command += [part for name in maps for part in ("-Xcc", name)] + [str(path) for path in folder.glob("*.swift")]
    times = []
    for _ in range(options.runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


with tempfile.TemporaryDirectory() as scratch:
    plain = compile_time(pathlib.Path(scratch) / "plain", "Plain")
    templates = compile_time(pathlib.Path(scratch) / "templates", "RequestTemplate")
ratio = templates / plain
print(f"{options.count} endpoints: {templates:.2f} s; a plain protocol of the same shape: {plain:.2f} s; "
      f"ratio {ratio:.2f}, limit {options.limit}")
sys.exit(0 if ratio <= options.limit else 1)
