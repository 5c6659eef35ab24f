#!/usr/bin/env python3
"""Checks the numbers of docs/guide/limits.md against the library: check_limits.py TREE PRINT_LIMITS

PRINT_LIMITS prints what the library has (print_limits.cpp). In a row of three cells the last names a constant and
the second holds its value: 65,536 bytes, 1 MiB, 2 s, 500 ms; constants whose names end in Ns are nanoseconds. In a row
of four the last names a member of lattice_world_config, the second its range and the third its default.
"""
import os
import re
import subprocess
import sys

PAGE = "docs/guide/limits.md"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}
NS = {"s": 10**9, "ms": 10**6}


def number(text):
    return int(text.replace(",", ""))


def value(cell, name):
    """The number a cell states, in the unit of the constant; None if there is none."""
    found = re.match(r"([\d,]+)(?: ([A-Za-z]+))?", cell)
    if not found:
        return None
    unit = found.group(2)
    return number(found.group(1)) * (NS[unit] if name.endswith("Ns") else UNITS.get(unit, 1))


def main():
    tree, program = sys.argv[1:3]
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    actual = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in output.splitlines()}
    problems, rows = [], set()
    with open(os.path.join(tree, PAGE), encoding="utf-8") as file:
        page = file.read()
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) not in (3, 4) or not cells[-1].startswith("`"):
            continue
        name = cells[-1].strip("`")
        rows.add(name)
        if len(cells) == 3:
            stated = [value(cells[1], name)]
        else:
            stated = [number(n) for n in re.findall(r"[\d,]+", cells[1]) + [cells[2]]]
        if name not in actual:
            problems.append(f"{PAGE}: the library has no {name}")
        elif stated != actual[name]:
            problems.append(f"{PAGE}: {name} is {actual[name]}, the page says {stated}")
    problems += [f"{PAGE}: no row for {name}" for name in sorted(set(actual) - rows)]
    print("\n".join(problems) if problems else f"{len(rows)} limits are as stated")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
