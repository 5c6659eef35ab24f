#!/usr/bin/env python3
"""Checks that docs/guide/statistics.md describes every member of the statistics, and no other.

check_statistics.py TREE

Each structure has a section whose heading names it; the first cell of a row names one or more members in
backticks. `struct_size` and members that begin with "reserved" need no row.
"""
import os
import re
import sys

PAGE = "docs/guide/statistics.md"
HEADER = "include/lattice/stats.h"
STRUCTURES = ("lattice_conn_stats", "lattice_world_stats", "lattice_type_stats", "lattice_prediction_error")


def members(text, structure):
    """Names of the members of a structure of plain numbers."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    found = re.search(r"typedef struct %s \{(.*?)\} %s;" % (structure, structure), text, flags=re.S)
    if not found:
        return set()
    names = set()
    for declaration in found.group(1).split(";"):
        words = declaration.split()
        if words:
            names.update(name.split()[-1].lstrip("*") for name in " ".join(words[1:]).split(","))
    return {n for n in names if n != "struct_size" and not n.startswith("reserved")}


def described(text, structure):
    """Names in the first cells of the table of the structure's section, and rows that say nothing."""
    section = re.search(r"^## [^\n]*%s\n(.*?)(?=^## |\Z)" % structure, text, flags=re.S | re.M)
    names, empty = [], []
    for line in (section.group(1) if section else "").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        row = re.findall(r"`([a-z0-9_]+)`", cells[0]) if line.startswith("| `") else []
        names += row
        if row and (len(cells) != 4 or not cells[1]):
            empty += row
    return names, empty


def main():
    tree = sys.argv[1]
    with open(os.path.join(tree, HEADER), encoding="utf-8") as file:
        header = file.read()
    with open(os.path.join(tree, PAGE), encoding="utf-8") as file:
        page = file.read()
    problems, count = [], 0
    for structure in STRUCTURES:
        declared = members(header, structure)
        rows, empty = described(page, structure)
        if not declared:
            problems.append(f"{HEADER} has no {structure}")
        count += len(declared)
        problems += [f"{PAGE}: no row for {structure}.{name}" for name in sorted(declared - set(rows))]
        problems += [f"{PAGE}: {structure} has no member {name}" for name in sorted(set(rows) - declared)]
        problems += [f"{PAGE}: {structure}.{name} has two rows" for name in sorted({n for n in rows if rows.count(n) > 1})]
        problems += [f"{PAGE}: the row of {structure}.{name} gives no unit" for name in empty]
    print("\n".join(problems) if problems else f"{count} members are described")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
