#!/usr/bin/env python3
"""Checks that each figure of speed or size in a document equals the one in the guide "What it costs".

A figure there has a name in a comment after it, and so has each quotation in another document:

    | an upload of 1 GiB | 0.85 <!-- figure: upload --> |
    An upload reaches 0.85 <!-- figure: upload --> of the speed of curl.

A figure is a number with its unit. A number that looks like a measured speed but has no name is an error outside the
guide, except in a decision, which may quote what was measured when it was made."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
guide = root / "Sources/Letterhead/Letterhead.docc/Guides/WhatItCosts.md"
named = re.compile(r"(\d[\d.,–]*(?: to \d[\d.,]*)?(?: [A-Za-zµ]+)?)\s<!-- figure: ([a-z0-9-]+) -->")
speed = r"[\d.–]+ (?:of|times) (?:the|its) (?:speed|time)\b"
measured = re.compile(rf"{speed}|\d (?:µs|ns)\b|\d [KMG]i?B (?:per|a) second")
faults = []


def lines(path):
    """Each paragraph as a line, with its number: a quotation may continue on the next one."""
    start, text = 1, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"\s*<!-- figure:", line):
            faults.append(f"{path.relative_to(root)}:{number}: a line must not begin with the comment of a figure")
        line = line.strip()
        if not line or line.startswith(("|", "- ")):
            yield start, text
            start, text = number, line
        else:
            start, text = (start, f"{text} {line}") if text else (number, line)
    yield start, text


figures = {}
for number, line in lines(guide):
    for value, name in named.findall(line):
        if name in figures:
            faults.append(f"{guide.relative_to(root)}:{number}: the figure {name} is there twice")
        figures[name] = value

quotations = 0
documents = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "llms.txt")]
for path in documents + sorted((root / "Sources").rglob("*.md")):
    if path == guide:
        continue
    for number, line in lines(path):
        place = f"{path.relative_to(root)}:{number}"
        found = named.findall(line)
        quotations += len(found)
        if len(found) != line.count("<!-- figure:"):
            faults.append(f"{place}: the comment of a figure does not follow a number")
        for value, name in found:
            if figures.get(name) != value:
                faults.append(f"{place}: the figure {name} is {figures.get(name, 'unknown')}, and not {value}")
        unnamed = measured.search(named.sub("", line))
        if unnamed and "Decisions" not in path.parts:
            faults.append(f"{place}: {unnamed.group().strip()} has no name of a figure in the guide \"What it costs\"")

for fault in faults:
    print(f"error: {fault}")
print(f"{quotations} quotations of {len(figures)} figures")
sys.exit(1 if faults else 0)
