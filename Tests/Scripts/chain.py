#!/usr/bin/env python3
"""Checks that README.md draws the links of a client in the order that the documentation of `HTTPClient` lists. The test
"the documentation lists the links in the order of a client's chain" compares that list with a client."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
documentation = (root / "Sources/Letterhead/Client/HTTPClient.swift").read_text()
listed = [name.replace("`", "") for name in re.findall(r"^/// \d+\. ([^:,]+)", documentation, re.M)]
picture = (root / "README.md").read_text().split("## How a request flows")[1].split("```")[1]
# Between the builder and the value, each row with a name in the second column is a link.
rows = picture.split("▼")[1]
drawn = re.findall(r"^.{50,60}?\b([a-z][A-Za-z]*(?: [A-Za-z]+)?)  +\S", rows, re.M)
print(f"{len(listed)} links: {', '.join(listed)}")
if drawn != listed:
    print(f"error: README.md draws {', '.join(drawn)}")
sys.exit(0 if listed and drawn == listed else 1)
