#!/usr/bin/env python3
"""Checks the names of two pages of docs/guide against the library: check_names.py TREE PRINT_LIMITS

`PRINT_LIMITS names` prints every refusal counter, disconnect reason, result and preset of the library. The table of
reasons in troubleshooting.md has a row for each of them, and so has the table of presets in bad-networks.md. In the
table of symptoms the second cell names only counters, results, reasons, members of the statistics and functions, and
at least 15 rows name a counter.
"""
import os
import re
import subprocess
import sys

PAGE = "docs/guide/troubleshooting.md"
NETWORKS = "docs/guide/bad-networks.md"


def rows(page, heading):
    section = re.search(r"^## %s\n(.*?)(?=^## |\Z)" % re.escape(heading), page, flags=re.S | re.M)
    for line in (section.group(1) if section else "").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] not in ("Reason", "Symptom", "Preset"):
            yield cells


def main():
    tree, program = sys.argv[1:3]
    known = {"counter": set(), "reason": set(), "result": set(), "preset": set()}
    output = subprocess.run([program, "names"], check=True, capture_output=True, text=True).stdout
    for kind, name in (line.split() for line in output.splitlines()):
        known[kind].add(name)
    declared = set()
    for name in os.listdir(os.path.join(tree, "include/lattice")):
        if name.endswith(".h"):
            with open(os.path.join(tree, "include/lattice", name), encoding="utf-8") as file:
                declared |= set(re.findall(r"[a-z][a-z0-9_]+", re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.S)))
    with open(os.path.join(tree, PAGE), encoding="utf-8") as file:
        page = file.read()
    problems = []
    reasons = {cells[0].strip("`") for cells in rows(page, "Why a connection ended")}
    problems += [f"{PAGE}: no row for the reason {name}" for name in sorted(known["reason"] - reasons)]
    problems += [f"{PAGE}: the library has no reason {name}" for name in sorted(reasons - known["reason"])]
    with open(os.path.join(tree, NETWORKS), encoding="utf-8") as file:
        presets = {cells[0].strip("`") for cells in rows(file.read(), "In a running program")}
    problems += [f"{NETWORKS}: no row for the preset {name}" for name in sorted(known["preset"] - presets)]
    problems += [f"{NETWORKS}: the library has no preset {name}" for name in sorted(presets - known["preset"])]
    with_counter = 0
    for cells in rows(page, "Symptoms"):
        names = set(re.findall(r"`([a-z0-9_]+)`", cells[1]))
        with_counter += bool(names & known["counter"])
        for name in names:
            prefix = name.endswith("_") and any(counter.startswith(name) for counter in known["counter"])
            if not prefix and name not in known["counter"] | known["result"] | known["reason"] | declared:
                problems.append(f"{PAGE}: nothing is called {name}")
    if with_counter < 15:
        problems.append(f"{PAGE}: only {with_counter} rows name a refusal counter")
    print("\n".join(problems) if problems else f"{len(reasons)} reasons, {with_counter} rows with a counter")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
