#!/usr/bin/env python3
"""Compares the public symbols of each product with the files in API/, or writes these files.

public-symbols.py SYMBOL-GRAPH-FOLDER MODULE… [--files FOLDER] [--update]

The folder holds MODULE.symbols.json and MODULE@OTHER.symbols.json, as `swift package dump-symbol-graph` writes them. A line
is a symbol's kind, full name and declaration, or a conformance, without comments and locations. It also fails if API.md does
not name a public enumeration, because that page lists what programs can switch over.

The files are those of Linux and of the compiler in .swift-version, apart from its patch. Elsewhere, the comparison says
SKIPPED.
"""
import argparse
import difflib
import json
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]

arguments = argparse.ArgumentParser()
arguments.add_argument("graphs", type=pathlib.Path)
arguments.add_argument("modules", nargs="+")
arguments.add_argument("--files", default="API", help="the folder of the files, in the repository")
arguments.add_argument("--update", action="store_true", help="write the files instead of comparing them")
options = arguments.parse_args()

# Every type has these conformances unless its declaration says otherwise, and compilers differ in listing them.
implied = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
signs = {"conformance": ":", "superclass": ":", "sameType": "=="}


def condition(constraints):
    """The where clause of an extension or a conformance, with a space before it, or nothing."""
    parts = {f"{part['lhs']} {signs[part['kind']]} {part['rhs']}".replace(" :", ":") for part in constraints or []}
    return " where " + ", ".join(sorted(parts)) if parts else ""


def line_of(symbol, roles):
    """A symbol's line: its kind, its full name, its declaration, and in brackets what the declaration does not show."""
    declaration = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
    marks = sorted(roles)
    for entry in symbol.get("availability", []):
        if entry.get("domain", "*") == "*" or entry.get("isUnconditionallyUnavailable"):
            marks += [name for name in ("deprecated", "unavailable") if entry.get(f"isUnconditionally{name.title()}")]
    where = condition(symbol.get("swiftExtension", {}).get("constraints")).replace(" where", " in extension where", 1)
    kind = symbol["kind"]["identifier"].removeprefix("swift.")
    return f"{kind} {'.'.join(symbol['pathComponents'])}: {declaration}{where}" + "".join(f" [{mark}]" for mark in marks)


def surface(module):
    """The sorted lines of a module."""
    graphs = [
        json.loads(path.read_text()) for path in sorted(options.graphs.rglob("*.symbols.json"))
        if path.name == f"{module}.symbols.json" or path.name.startswith(f"{module}@")
    ]
    if not graphs:
        sys.exit(f"error: {options.graphs} has no symbol graph of {module}")
    symbols = {symbol["identifier"]["precise"]: symbol for graph in graphs for symbol in graph["symbols"]}
    relations = [relation for graph in graphs for relation in graph["relationships"]]
    roles = {identifier: set() for identifier in symbols}
    lines = []
    for relation in relations:
        source, target = relation["source"], relation["target"]
        if source not in symbols:
            continue
        if relation["kind"] in ("requirementOf", "optionalRequirementOf"):
            roles[source].add("requirement")
        elif relation["kind"] == "defaultImplementationOf":
            roles[source].add("default")
        elif relation["kind"] in ("conformsTo", "inheritsFrom"):
            other = symbols.get(target)
            name = ".".join(other["pathComponents"]) if other else relation.get("targetFallback", target)
            name = name.removeprefix("Swift.").removeprefix(f"{module}.")
            if name not in implied:
                full = ".".join(symbols[source]["pathComponents"])
                kind = "conformance" if relation["kind"] == "conformsTo" else "superclass"
                lines.append(f"{kind} {full}: {name}{condition(relation.get('swiftConstraints'))}")
    # A conformance can be in the graph of the module and in that of an extension. Symbols are distinct by identifier.
    # An extension of another module's type is a symbol, too: its members and conformances have lines, it has none.
    lines = list(set(lines)) + [
        line_of(symbol, roles[identifier])
        for identifier, symbol in symbols.items() if symbol["kind"]["identifier"] != "swift.extension"
    ]
    return sorted(lines, key=lambda line: line.encode())


def minor(version):
    """A version without its patch: 6.3 of 6.3.1."""
    return ".".join(version.split(".")[:2])


def compiler():
    """The version of the compiler in use, such as 6.3."""
    text = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    return minor(text.partition("Swift version ")[2].split(" ")[0])


expected = minor((root / ".swift-version").read_text().strip())
if sys.platform != "linux" or compiler() != expected:
    print(f"SKIPPED: the files in API are those of Linux and Swift {expected}; this is {sys.platform}, {compiler()}")
    sys.exit()

faults = []
page = (root / "API.md").read_text()
for module in options.modules:
    path = root / options.files / f"{module}.txt"
    present = surface(module)
    if options.update:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(f"{line}\n" for line in present).encode())
        print(f"{options.files}/{path.name}: {len(present)} lines")
        continue
    recorded = path.read_bytes().decode().splitlines() if path.exists() else []
    changes = [
        line for line in difflib.unified_diff(recorded, present, lineterm="", n=0)
        if line[0] in "+-" and not line.startswith(("---", "+++"))
    ]
    # A nested type can be named by its last part after another one of the same type.
    for name in (line.split(" ")[1].rstrip(":") for line in present if line.startswith("enum ")):
        if f"`{name}`" not in page and f".{name.rpartition('.')[2]}`" not in page:
            faults.append(f"API.md does not name the enumeration {name}")
    if changes:
        faults.append(f"{len(changes)} lines of {options.files}/{path.name} differ")
        print(f"--- {options.files}/{path.name}: - is recorded, + is declared", *changes, sep="\n")
# A product that isn't built here has its sources beside the files.
sources = root / options.files / ".." / "Sources"
strays = [path for path in sorted((root / options.files).glob("*.txt")) if not (sources / path.stem).is_dir()]
faults += [f"{options.files}/{path.name} is the file of no product" for path in strays]
for fault in faults:
    print(f"error: {fault}")
if any(fault.endswith("differ") for fault in faults):
    update = f".ci/stages/{'documentation' if options.files == 'API' else 'adapters'} --update"
    print(f"If the change is intended, run {update}, read the difference, and commit it with the change.")
elif not faults and not options.update:
    print(f"public symbols of {len(options.modules)} modules: as recorded in {options.files}")
sys.exit(1 if faults else 0)
