#!/usr/bin/env python3
"""Checks that code in the documents is code that is compiled or run: check_snippets.py TREE [--write]

A fenced block of C, C++, C#, TypeScript, CMake or shell follows a line that names where it is cut from:

    <!-- from examples/01-hello/main.c [connect] -->
    ```c
    ...
    ```

The source, under examples/ or tests/, has the region between two lines that hold the marker and nothing else:
`//! [connect]` in C, C++, C# and TypeScript, `# [connect]` elsewhere. The block is that region: its common indentation removed,
the marker lines of other regions inside it left out. A region may be shown in several places. A source that should
stay free of markers is named alone, `<!-- from examples/01-hello/main.c -->`: the block is then any run of its lines.

--write puts the regions as they are now into the documents, instead of comparing.
"""
import difflib
import os
import re
import sys
import textwrap

CODE = {"c", "cpp", "c++", "csharp", "typescript", "cmake", "sh", "bash"}
OPEN = re.compile(r"^```\s*([A-Za-z+]*)\s*$")
FROM = re.compile(r"^<!-- from (\S+)(?: \[([a-z0-9_]+)\])? -->$")
MARKER = re.compile(r"^\s*(?://!|#) \[([a-z0-9_]+)\]\s*$")
# Documents whose fences must all say what language they hold, so that code cannot hide in one without.
STRICT = ("README.md", "docs/guide/")


def excerpt(lines, body):
    """True when `body` is a run of these lines, but for its indentation."""
    runs = (lines[i : i + len(body)] for i in range(len(lines) - len(body) + 1))
    return bool(body) and any(textwrap.dedent("\n".join(run)).splitlines() == body for run in runs)


def region(tree, source, name, body):
    """The lines of region `name` of `source`, or None and why there is none. Without a name: `body`, if it is there."""
    if not source.startswith(("examples/", "tests/")):
        return None, f"{source} is neither in examples/ nor in tests/, so nothing compiles it"
    path = os.path.join(tree, source)
    if not os.path.exists(path):
        return None, f"{source} does not exist"
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if name is None:
        return (body, "") if excerpt(lines, body) else (None, f"{source} has no such run of lines")
    places = [i for i, line in enumerate(lines) if (m := MARKER.match(line)) and m.group(1) == name]
    if len(places) != 2:
        return None, f"{source} has {len(places)} lines with the marker [{name}] instead of 2"
    inside = [line for line in lines[places[0] + 1 : places[1]] if not MARKER.match(line)]
    return textwrap.dedent("\n".join(inside)).strip("\n").splitlines(), ""


def check(tree, document, write):
    """Returns what is wrong with one document, and how many blocks it has; rewrites it with --write."""
    with open(os.path.join(tree, document), encoding="utf-8") as file:
        lines = file.read().splitlines()
    problems, out, blocks, i = [], [], 0, 0
    while i < len(lines):
        opening = OPEN.match(lines[i])
        if not opening:
            out.append(lines[i])
            i += 1
            continue
        end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith("```")), None)
        where = f"{document}:{i + 1}"
        if end is None:
            problems.append(f"{where}: this block never ends")
            out += lines[i:]
            break
        language, body = opening.group(1).lower(), lines[i + 1 : end]
        if not language and document.startswith(STRICT):
            problems.append(f"{where}: say what the block holds: ```text, ```console, ```c ...")
        if language in CODE:
            blocks += 1
            named = FROM.match(lines[i - 1]) if i > 0 else None
            if not named:
                problems.append(f"{where}: no <!-- from FILE [region] --> above this block of {language}")
            else:
                want, why = region(tree, *named.groups(), body)
                if want is None:
                    problems.append(f"{where}: {why}")
                elif write:
                    body = want
                elif body != want:
                    difference = "\n".join(difflib.unified_diff(want, body, named.group(1), document, "", "", 2, ""))
                    problems.append(f"{where}: differs from its source (--write copies it):\n{difference}")
        out += [lines[i], *body, lines[end]]
        i = end + 1
    if write and out != lines:
        with open(os.path.join(tree, document), "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")
    return problems, blocks


def documents(tree):
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(f for f in folders if f not in ("build", ".git", "node_modules", ".cache"))
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), tree)


def main():
    tree, write = sys.argv[1], "--write" in sys.argv[2:]
    problems, blocks = [], 0
    for document in documents(tree):
        found, count = check(tree, document, write)
        problems += found
        blocks += count
    print("\n".join(problems) if problems else f"{blocks} blocks of code are cut from their sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
