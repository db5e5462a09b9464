#!/usr/bin/env python3
"""har-schema.py DIRECTORY: validates every .har file of a directory as an HTTP Archive, version 1.2.

Each archive must fit Tests/Fixtures/har-1.2.schema.json, be read by haralyzer, and keep the rules that a schema cannot
express: the time of an entry is the sum of its phases, its query items are those of its URL, and Base64 can be decoded.
Then each archive is damaged in each way of a list, and each damaged archive must be refused: a check that cannot fail
proves nothing.

Needs the packages jsonschema (with its format checks) and haralyzer. Ends with 1 if an archive is refused, or a damaged
one is not. Prints a line for each fault, and the sum.
"""
import base64, copy, json, pathlib, sys
from urllib.parse import parse_qsl, urlsplit

import jsonschema
from haralyzer import HarEntry, HarParser

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "Fixtures" / "har-1.2.schema.json"
schema = json.loads(SCHEMA.read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def faults(archive):
    """Returns what is wrong with an archive, as texts."""
    found = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(archive)]
    if found:
        return found
    for number, entry in enumerate(archive["log"]["entries"]):
        found += [f"entry {number}: {fault}" for fault in entry_faults(entry)]
    dates = [entry["startedDateTime"] for entry in archive["log"]["entries"]]
    if dates != sorted(dates):
        found.append("the entries are not sorted by their start")
    return found or parser_faults(archive)


def entry_faults(entry):
    timings, request, response = entry["timings"], entry["request"], entry["response"]
    # The time for TLS is part of the time to connect.
    phases = [timings.get(name, -1) for name in ("blocked", "dns", "connect", "send", "wait", "receive")]
    if abs(sum(phase for phase in phases if phase > 0) - entry["time"]) > 0.01:
        yield "the time is not the sum of the phases"
    if timings.get("ssl", -1) > max(timings.get("connect", -1), 0):
        yield "the time for TLS is longer than the time to connect"
    names = [name for name, _ in parse_qsl(urlsplit(request["url"]).query, keep_blank_values=True)]
    if names != [item["name"] for item in request["queryString"]]:
        yield "the query items are not those of the URL"
    if "postData" in request and request["postData"].get("params") and request["postData"].get("text"):
        yield "a body has parameters and a text"
    content = response["content"]
    if content.get("encoding") == "base64":
        try:
            base64.b64decode(content["text"], validate=True)
        except ValueError:
            yield "the content is not Base64"
    elif "encoding" in content:
        yield "the encoding of the content is unknown"


def parser_faults(archive):
    """Reads the archive with haralyzer, and compares."""
    try:
        entries = [HarEntry(entry) for entry in HarParser(archive).har_data["entries"]]
        read = [(e.request.method, e.request.url, e.response.status, len(e.request.headers), len(e.response.headers))
                for e in entries]
    except Exception as error:
        return [f"haralyzer: {type(error).__name__} {error}"]
    written = [(e["request"]["method"], e["request"]["url"], e["response"]["status"], len(e["request"]["headers"]),
                len(e["response"]["headers"])) for e in archive["log"]["entries"]]
    return [] if read == written else ["haralyzer reads other entries"]


def set_to(*path, value):
    """Returns a change of the archive that sets a member."""
    def change(archive):
        target = archive
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value
    return change


def removing(*path):
    def change(archive):
        target = archive
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]
    return change


ENTRY = ("log", "entries", 0)
DAMAGES = [removing("log", name) for name in ("version", "creator", "entries")] + [
    removing(*ENTRY, name) for name in ("startedDateTime", "time", "request", "response", "cache", "timings")
] + [
    removing(*ENTRY, "request", name)
    for name in ("method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize")
] + [
    removing(*ENTRY, "response", name)
    for name in ("status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "bodySize")
] + [removing(*ENTRY, "timings", name) for name in ("send", "wait", "receive")] + [
    set_to("log", "version", value="1.1"),
    set_to(*ENTRY, "startedDateTime", value="Sun, 06 Nov 1994 08:49:37 GMT"),
    set_to(*ENTRY, "time", value=123456789),
    set_to(*ENTRY, "unknown", value=1),
    set_to(*ENTRY, "serverIPAddress", value="127.0.0.1:80"),
    set_to(*ENTRY, "request", "url", value="/relative"),
    set_to(*ENTRY, "request", "queryString", value=[{"name": "other", "value": "1"}]),
    set_to(*ENTRY, "request", "cookies", value=[{}]),
    set_to(*ENTRY, "response", "status", value="200"),
    set_to(*ENTRY, "response", "content", value={"size": 3, "mimeType": "a/b", "text": "*", "encoding": "base64"}),
    set_to(*ENTRY, "timings", "wait", value=-1),
    set_to(*ENTRY, "timings", "ssl", value=123456789),
]


def main(directory):
    files = sorted(pathlib.Path(directory).glob("*.har"))
    wrong = count = refused = 0
    for file in files:
        archive = json.loads(file.read_text())
        count += len(archive["log"]["entries"])
        found = faults(archive)
        wrong += len(found)
        for fault in found:
            print(f"{file.name}: {fault}")
        if found or not archive["log"]["entries"]:
            continue
        for number, damage in enumerate(DAMAGES):
            damaged = copy.deepcopy(archive)
            damage(damaged)
            if faults(damaged):
                refused += 1
            else:
                wrong += 1
                print(f"{file.name}: damage {number} is not found")
    print(f"{len(files)} archives, {count} entries, {wrong} faults; {refused} damaged archives refused")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
