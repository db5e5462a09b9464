#!/usr/bin/env python3
"""Checks that README.md draws the links of a client, and that the guide "Ordering a loader chain" explains them, in the
order that the documentation of `HTTPClient` lists. The test "the documentation lists the links in the order of a client's
chain" compares that list with a client."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
library = root / "Sources/Letterhead"
documented = re.findall(r"^/// \d+\. (.*)", (library / "Client/HTTPClient.swift").read_text(), re.M)
listed = [re.split("[:,]", row)[0].replace("`", "") for row in documented]
# Between the builder and the value, each row with a name in the second column is a link.
picture = (root / "README.md").read_text().split("## How a request flows")[1].split("```")[1].split("▼")[1]
drawn = re.findall(r"^.{50,60}?\b([a-z][A-Za-z]*(?: [A-Za-z]+)?)  +\S", picture, re.M)
guide = (library / "Letterhead.docc/Guides/OrderingALoaderChain.md").read_text()
explained = re.findall(r"^\| \d+ \| (.*?) \|", guide, re.M)
types = [re.findall("``[A-Z][A-Za-z]*``", row)[:1] for row in documented]
faults = [] if listed and drawn == listed else [f"README.md draws {', '.join(drawn)}"]
if [re.findall("``[A-Z][A-Za-z]*``", row)[:1] for row in explained] != types:
    faults.append(f"the guide explains {'; '.join(explained)}")
print(f"{len(listed)} links: {', '.join(listed)}")
for fault in faults:
    print(f"error: {fault}")
sys.exit(1 if faults else 0)
