#!/usr/bin/env python3
"""Prints the proportions of the package, and fails when a limit is exceeded: the lines of code of each module, files and
rooms, and how often the library uses mechanisms that should stay rare. A limit is what is there: a change lowers it, or
raises it in a commit of its own whose message says what users gain. .ci/run documentation prints the size of the public
surface; Tests/Scripts/endpoint-compile-time.py and entered-files.sh print what needs a build."""
import pathlib
import re
import statistics
import sys

root = pathlib.Path(__file__).resolve().parents[2]
library = root / "Sources" / "Letterhead"
files = {path.relative_to(library): path.read_text() for path in sorted(library.rglob("*.swift"))}
# The licence line of each file is not counted.
lines = {path: text.count("\n") - 1 for path, text in files.items()}
longest = max(lines, key=lines.get)
code = {path: re.sub(r"//[^\n]*", "", text) for path, text in files.items()}

modules = {
    folder.name: re.sub(r"//[^\n]*", "", "".join(path.read_text() for path in sorted(folder.rglob("*.swift"))))
    for folder in sorted((root / "Sources").glob("Letterhead*"))
}
# The lines of each module, without comments and blanks.
limits = {
    "Letterhead": 21_326,
    "LetterheadCaching": 1_954,
    "LetterheadContracts": 850,
    "LetterheadFoundation": 31,
    "LetterheadOAuth": 1_827,
    "LetterheadObserving": 607,
    "LetterheadRecording": 1_501,
    "LetterheadRelay": 752,
    "LetterheadResilience": 1_591,
    "LetterheadSigning": 2_145,
    "LetterheadStreaming": 1_153,
    "LetterheadTesting": 4_092,
    "LetterheadTestingSupport": 62,
    "LetterheadTransfers": 1_875,
    "LetterheadURLSession": 493,
}


def count(pattern):
    return sum(len(re.findall(pattern, text)) for text in code.values())


def inside(*names):
    return sum(1 for path in files if set(names) & set(path.parts[:-1]))


rooms = {path.parts[0] for path in files if len(path.parts) > 1}
measures = [
    (f"lines of code of {name}", sum(1 for line in text.splitlines() if line.strip()), limits.get(name, 0))
    for name, text in modules.items()
]
measures += [
    # what is counted, how many there are, the limit
    ("declarations for the package", sum(len(re.findall(r"\bpackage (?!import)", t)) for t in modules.values()), 177),
    ("files", len(files), 195),
    ("folders at the top level", len(rooms), 7),
    (f"lines in the longest file, {longest}", lines[longest], 500),
    ("task-local values", count(r"@TaskLocal"), 1),
    ("files with a Mutex", sum(1 for text in code.values() if "Mutex<" in text or "Mutex(" in text), 31),
    ("files of Retry", inside("Retry"), 6),
    ("lines of Package.swift", (root / "Package.swift").read_text().count("\n"), 110),
]
print(f"median of the lines in a file: {statistics.median_low(lines.values())}")
broken = 0
for name, number, limit in measures:
    isKept = number <= limit
    broken += not isKept
    print(f"{name}: {number}, at most {limit}{'' if isKept else '   EXCEEDED'}")
sys.exit(1 if broken else 0)
