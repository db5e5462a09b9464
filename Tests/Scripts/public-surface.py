#!/usr/bin/env python3
"""Prints how large the public surface of the library is, and fails when a limit is exceeded.

public-surface.py SYMBOL-GRAPH-FOLDER [--top-level N] [--nested N] [--declarations N] [--lines N]

The folder holds Letterhead.symbols.json, as `swift package dump-symbol-graph` writes it. A type is a struct, class, actor,
enumeration or protocol. Types with an underscore, which symbol graphs and the documentation leave out, are read from the
sources and counted apart. It also fails when a public type is in no topic of the documentation catalog, or a guide is not linked.
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

root = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Letterhead"
catalog = root / "Letterhead.docc"

arguments = argparse.ArgumentParser()
arguments.add_argument("graphs", type=pathlib.Path)
arguments.add_argument("--top-level", type=int, default=115)
arguments.add_argument("--nested", type=int, default=150)
arguments.add_argument("--declarations", type=int)
arguments.add_argument("--lines", type=int, default=300)
arguments.add_argument("--list", action="store_true", help="print the names of the types")
options = arguments.parse_args()

symbols = json.loads((options.graphs / "Letterhead.symbols.json").read_text())["symbols"]
kinds = {f"swift.{kind}" for kind in ("struct", "class", "actor", "enum", "protocol")}
types = {".".join(s["pathComponents"]) for s in symbols if s["kind"]["identifier"] in kinds}

files = {path.relative_to(root): path.read_text() for path in sorted(root.rglob("*.swift"))}
hidden = re.compile(r"^public (?:final )?(?:struct|class|actor|enum|protocol) (_\w+)", re.MULTILINE)
underscored = {name for text in files.values() for name in hidden.findall(text)}
top_level = {name for name in types if "." not in name}
lines = {path: text.count("\n") for path, text in files.items()}
longest = max(lines, key=lines.get)

print(f"public types: {len(top_level)} at the top level, {len(types)} with nested ones")
print(f"  and {len(underscored)} with an underscore, which the documentation leaves out")
print(f"public declarations: {len(symbols)}")
print(f"files: {len(files)}, median {statistics.median_low(lines.values())} lines, longest {lines[longest]} ({longest})")
if options.list:
    print("\n".join(sorted(types)))

pages = {path: path.read_text() for path in sorted(catalog.rglob("*.md"))}
topics = "\n".join(text.partition("\n## Topics")[2] for text in pages.values())
listed = set(re.findall(r"^- ``([^`]+)``", topics, re.MULTILINE))
linked = set(re.findall(r"^- <doc:(\w+)>", topics, re.MULTILINE))

faults = []
for name, count, limit in (
    ("top-level public types", len(top_level), options.top_level),
    ("public types with nested ones", len(types), options.nested),
    ("public declarations", len(symbols), options.declarations),
    ("lines in the longest file", lines[longest], options.lines),
):
    if limit is not None and count > limit:
        faults.append(f"{count} {name}, the limit is {limit}")
faults += [f"the public type {name} is in no topic" for name in sorted(top_level - listed)]
for page in pages:
    if page.stem != "Letterhead" and page.stem not in linked:
        faults.append(f"the page {page.relative_to(catalog)} is not linked in a topic")
for fault in faults:
    print(f"error: {fault}")
sys.exit(1 if faults else 0)
