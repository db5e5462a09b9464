#!/usr/bin/env python3
"""Prints how large the public surface of the library is, and fails when a limit is exceeded.

public-surface.py SYMBOL-GRAPH-FOLDER [--top-level N] [--nested N] [--declarations N] [--lines N]

The folder holds Letterhead.symbols.json, as `swift package dump-symbol-graph` writes it. A type is a struct, class, actor,
enumeration or protocol. It also fails when an exported name begins with an underscore, when a public type is in no topic of
the documentation catalog, or when a guide is not linked. Symbol graphs leave out names with an underscore, so these are read
from the sources.
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
keywords = "struct|class|actor|enum|protocol|typealias|func|var|let"
hidden = re.compile(rf"^[^\n/]*\bpublic\b[^\n/]*?\b(?:{keywords}) (_\w+)|\bassociatedtype (_\w+)", re.MULTILINE)
underscored = {name for text in files.values() for names in hidden.findall(text) for name in names if name}
top_level = {name for name in types if "." not in name}
lines = {path: text.count("\n") for path, text in files.items()}
longest = max(lines, key=lines.get)

print(f"public types: {len(top_level)} at the top level, {len(types)} with nested ones")
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
faults += [f"the exported name {name} begins with an underscore" for name in sorted(underscored)]
faults += [f"the public type {name} is in no topic" for name in sorted(top_level - listed)]
for page, text in pages.items():
    # A page about a symbol needs no link.
    if not text.startswith("# ``") and page.stem not in linked:
        faults.append(f"the page {page.relative_to(catalog)} is not linked in a topic")
for fault in faults:
    print(f"error: {fault}")
sys.exit(1 if faults else 0)
