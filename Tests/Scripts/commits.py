#!/usr/bin/env python3
"""Checks the messages of the commits since the last tag, or of the last 50 while there is no tag.

commits.py [RANGE]

A subject has at most 72 characters, begins with a capital letter and a verb in the imperative, and has no full stop at its
end. The line after it is empty. Merges are exempt. In a shallow clone, the commits that are there are checked.
"""
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
# In a container, the clone may belong to another user.
git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]

# The verbs that messages begin with most often. A word outside the list is not judged.
verbs = """
accept add allow answer avoid bump change check clean compare count create declare delete describe document drop end fail
fix give handle implement improve keep let limit list lower make measure mend merge move name open prevent raise read
record reduce refactor refuse remove rename replace report return reword send share shorten show split start stop
support test try update use wait warn write
""".split()
irregular = """
gave given kept made sent shown wrote written tried tries
""".split()


def forms(verb):
    """The third person, the past tense and the gerund of a regular verb."""
    stem = verb.removesuffix("e")
    return {verb + "s", verb + "es", stem + "ed", stem + "ing", verb + verb[-1] + "ed", verb + verb[-1] + "ing"}


refused = set(irregular).union(*(forms(verb) for verb in verbs)) - set(verbs)


def output(*command):
    """What git prints, or None if it fails."""
    result = subprocess.run([*git, *command], capture_output=True, text=True, encoding="utf-8")
    return result.stdout if result.returncode == 0 else None


def faults(message):
    """What is wrong with a message, one text each."""
    subject, *rest = message.split("\n")
    first = subject.split(" ")[0]
    if len(subject) > 72:
        yield f"the subject has {len(subject)} characters, the limit is 72"
    if subject.endswith("."):
        yield "the subject ends with a full stop"
    if not subject[:1].isupper():
        yield "the subject does not begin with a capital letter"
    if first.rstrip(":,").lower() in refused:
        yield f"the subject begins with '{first}'; write the imperative, such as 'Add' or 'Fix'"
    if rest and rest[0]:
        yield "the second line is not empty"


if not (root / ".git").exists():
    print("SKIPPED: the sources are not in a clone")
    sys.exit()
tag = (output("describe", "--tags", "--abbrev=0") or "").strip()
selection = sys.argv[1:] or ([f"{tag}..HEAD"] if tag else ["--max-count=50", "HEAD"])
log = output("log", "--no-merges", "--format=%h%n%B%x00", *selection)
if log is None:
    sys.exit("error: git log failed")
commits = [entry.strip("\n").partition("\n") for entry in log.split("\0") if entry.strip()]
bad = 0
for commit, _, message in commits:
    found = list(faults(message))
    bad += bool(found)
    for fault in found:
        print(f"error: {commit} {message.partition(chr(10))[0]!r}: {fault}")
shallow = output("rev-parse", "--is-shallow-repository") == "true\n"
where = f"since {tag}" if tag else "at most the last 50, because there is no tag"
print(f"{len(commits)} commits ({where}{'; the clone is shallow' if shallow else ''}): {bad} with a fault")
sys.exit(1 if bad else 0)
