#!/usr/bin/env python3
"""Checks that docs/guide/refusals.md shows what src/base/events.def declares: check_refusals.py TREE [--write]

The page has a marker `<!-- events GROUP -->` for each group, and behind it a table. `--write` makes the tables.
"""
import os
import re
import sys

PAGE = "docs/guide/refusals.md"
LIST = "src/base/events.def"
EVENT = re.compile(r'^LATTICE_EVENT_([A-Z]+)\(\w+, "(\w+)",\s*"([^"\n]*)"\)$', re.M)
TABLE = re.compile(r"<!-- events ([A-Z]+) -->\n(?:\|.*\n)*")


def main():
    tree = sys.argv[1]
    with open(os.path.join(tree, LIST), encoding="utf-8") as file:
        source = file.read()
    events = EVENT.findall(source)
    problems = []
    if len(events) != len(re.findall(r"^LATTICE_EVENT_[A-Z]+\(", source, re.M)):
        problems.append(f"{LIST} has an event that this cannot read")
    names = [name for _, name, _ in events]
    problems += [f"{LIST}: two events are named {name}" for name in sorted({n for n in names if names.count(n) > 1})]
    with open(os.path.join(tree, PAGE), encoding="utf-8") as file:
        page = file.read()

    def table(found):
        rows = "".join(f"| `{name}` | {text} |\n" for group, name, text in events if group == found.group(1))
        return f"<!-- events {found.group(1)} -->\n| Counter | What it says |\n|---|---|\n{rows}"

    shown = re.findall(r"<!-- events ([A-Z]+) -->", page)
    problems += [f"{PAGE}: no table of {group}" for group in sorted({group for group, _, _ in events} - set(shown))]
    expected = TABLE.sub(table, page)
    if expected != page and "--write" in sys.argv:
        with open(os.path.join(tree, PAGE), "w", encoding="utf-8") as file:
            file.write(expected)
    elif expected != page:
        problems.append(f"{PAGE} differs from {LIST}: run tests/docs/check_refusals.py . --write")
    print("\n".join(problems) if problems else f"{len(events)} events are described")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
