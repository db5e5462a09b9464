#!/usr/bin/env python3
"""Checks that the cases of Tests/Joints find the faults of mutants.txt, each of which is one line.

mutants.py [NAME...]

All faults are built at once, in a copy of the package. There, each of these lines is a choice that the variable MUTANT
makes when the program runs. Each case must pass without a fault. With its fault, it must fail, crash or hang. The copy
stays in the folder for temporary files, or in MUTANTS_FOLDER, so that the next run builds only what has changed.

A fault is a paragraph: a sentence, a file in Sources, the line that is there, the faulty line, and cases, each of which
must find the fault. Backquotes mark the part that is replaced, by an expression or by statements in { }. A line that is
not there exactly once is an error, so that the list stays true. A file of a product must import Letterhead.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
copy = pathlib.Path(os.environ.get("MUTANTS_FOLDER") or pathlib.Path(tempfile.gettempdir()) / "letterhead-mutants")
choice = """// SPDX-License-Identifier: MIT
import LetterheadFoundation

private let chosen = ProcessInfo.processInfo.environment["MUTANT"]

package func isMutant(_ name: String) -> Bool { chosen == name }
"""


class Mutant:
    def __init__(self, paragraph):
        lines = paragraph.splitlines()
        olds = [line[2:] for line in lines if line.startswith("- ")]
        news = [line[2:] for line in lines if line.startswith("+ ")]
        if not olds or len(news) != 1 or len(lines) < len(olds) + 4:
            sys.exit(f"error: this is not a fault of mutants.txt:\n{paragraph}")
        self.sentence, self.file, self.new, self.cases = lines[0], lines[1], news[0], lines[len(olds) + 3:]
        self.whole = "\n".join(olds).replace("`", "")
        parts = "\n".join(olds).split("`")
        self.before, self.old, self.after = parts if len(parts) == 3 else ("", self.whole, "")
        self.name = "-".join(re.findall(r"\w+", self.sentence.lower()))

    def choose(self, text):
        """Returns the text of the file with the choice."""
        chosen = f'(isMutant("{self.name}") ? ({self.new}) : ({self.old}))'
        if self.new.startswith("{"):
            chosen = f'if isMutant("{self.name}") {self.new} else {{ {self.old} }}'
        return text.replace(self.whole, self.before + chosen + self.after)


def write(path, data):
    """Leaves a file that is the same alone, so that it isn't built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def build(mutants):
    """Makes the copy, and returns the path of joints in it."""
    paths = [root / "Package.swift"]
    for name in ("Sources", "Tests", "Examples"):
        paths += (path for path in (root / name).rglob("*") if path.is_file() and ".build" not in path.parts)
    files = {str(path.relative_to(root)): path.read_bytes() for path in paths}
    lost = []
    for mutant in mutants:
        text = files[f"Sources/{mutant.file}"].decode()
        if text.count(mutant.whole) != 1:
            lost.append(f"error: {mutant.file} doesn't have this exactly once: {mutant.whole}")
        files[f"Sources/{mutant.file}"] = mutant.choose(text).encode()
    if lost:
        sys.exit("\n".join(lost))
    files["Sources/Letterhead/Support/Mutant.swift"] = choice.encode()
    for name, data in files.items():
        write(copy / name, data)
    for folder in ("Sources", "Tests"):
        for path in (copy / folder).rglob("*.swift"):
            if str(path.relative_to(copy)) not in files:
                path.unlink()
    strict = "-Xswiftc -warnings-as-errors -Xcc -Werror".split()
    command = ["swift", "build", "--package-path", copy, *strict, "--product", "joints"]
    if subprocess.run(command).returncode:
        sys.exit("error: the faults can't be built")
    path = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return f"{path}/joints"


def run(joints, case, mutant=""):
    """Returns what a case found: nothing if it has passed."""
    command = ["timeout", "60", joints, "run", *case.split()]
    result = subprocess.run(command, env=os.environ | {"MUTANT": mutant}, capture_output=True, text=True)
    if result.returncode == 2:
        sys.exit(f"error: joints doesn't know the case {case}")
    line = result.stdout.partition("\n")[0]
    return (line or f"it ends with {result.returncode}") if result.returncode else ""


def main():
    text = (root / "Tests/Scripts/mutants.txt").read_text()
    mutants = [Mutant(paragraph) for paragraph in re.split(r"\n\n+", text.strip())]
    joints = build(mutants)
    chosen = [mutant for mutant in mutants if not sys.argv[1:] or mutant.name in sys.argv[1:]]
    # Some faults depend on times, so each is tried up to three times.
    cases = sorted({case for mutant in chosen for case in mutant.cases})
    broken = [case for case in cases if all(run(joints, case) for _ in range(3))]
    survivors = 0
    for mutant in chosen:
        for case in mutant.cases:
            found = next(filter(None, (run(joints, case, mutant.name) for _ in range(3))), "")
            survivors += not found
            print(f"{'killed' if found else 'SURVIVED'}: {mutant.sentence}\n    {case}\n    {found[:200]}", flush=True)
    for case in broken:
        print(f"fails without a fault: {case}")
    print(f"mutants: {len(chosen)} faults, {survivors} survived, {len(broken)} cases fail without one")
    sys.exit(1 if survivors or broken or not chosen else 0)


main()
