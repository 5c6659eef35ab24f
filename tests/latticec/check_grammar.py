#!/usr/bin/env python3
"""Checks the editor grammar against latticec: check_grammar.py LATTICEC EDITOR SCHEMA...

Colours each SCHEMA as an editor does. Every word after @, every word before a name and every number must have a
colour. And each attribute that the grammar knows must be one that LATTICEC knows.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Where an attribute may stand.
PLACES = (
    "state S {{ @{} int32 x; }}",
    "state S {{ int32 x; }} variant V of S {{ @{} x; }}",
    "@{} struct S {{ int32 x; }}",
    "state S {{ int32 x; }} @{} object O {{ state S; }}",
    "state S {{ int32 x; }} object O {{ state S; @{} rpc f() to server; }}",
)


def load(editor):
    manifest = json.loads((editor / "package.json").read_text())["contributes"]
    for language in manifest["languages"]:
        json.loads((editor / language["configuration"]).read_text())
    (grammar,) = manifest["grammars"]
    return json.loads((editor / grammar["path"]).read_text())


def colours(line, patterns):
    """(text, scope) of all that has a colour. As TextMate does: the first match in the line, of the first pattern."""
    at = 0
    while True:
        found = [(m.start(), k, m) for k, (regex, _) in enumerate(patterns) if (m := regex.search(line, at))]
        if not found:
            return
        _, k, match = min(found, key=lambda f: f[:2])
        pattern = patterns[k][1]
        if "name" in pattern:
            yield match.group(), pattern["name"]
        for group, scope in pattern.get("captures", {}).items():
            if match.group(int(group)):
                yield match.group(int(group)), scope["name"]
        at = max(match.end(), at + 1)


def main(latticec, editor, *schemas):
    grammar = load(pathlib.Path(editor))
    patterns = [(re.compile(p["match"]), p) for p in grammar["patterns"]]
    mistakes = []
    declared = set()  # the names that the schemas give to types
    seen = set()
    for schema in schemas:
        for number, line in enumerate(pathlib.Path(schema).read_text().splitlines(), 1):
            scopes = {}
            for text, scope in colours(line, patterns):
                scopes.setdefault(text, scope)
                seen.add(scope)
                if scope == "entity.name.type.lattice":
                    declared.add(text)
            code = re.sub(r'//.*|"[^"]*"', "", line)
            words = re.findall(r"(?<=@)\w+", code)
            words += re.findall(r"\b([a-z]\w*)(?:\([0-9]+\))? +[a-z_]\w*(?:\[[<=0-9]+\])?;", code)
            words += re.findall(r"^ *([a-z]+) +\w+ *[{(:]", code)
            words += re.findall(r"\bto +(\w+)", code)
            words += re.findall(r"(?<![\w.])-?[0-9][0-9.']*", code)
            mistakes += [f"{schema}:{number}: '{w}' has no colour" for w in words if w not in scopes and w not in declared]
    for scope in {s["name"] for _, p in patterns for s in [p, *p.get("captures", {}).values()] if "name" in s} - seen:
        mistakes.append(f"no schema shows {scope}")

    known = set()
    for _, pattern in patterns:
        if pattern["match"].startswith("(@)"):
            known |= set(re.match(r"\(@\)\(([a-z_|]+)\)", pattern["match"]).group(1).split("|"))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "one.lattice")
        for name in sorted(known):
            for text in PLACES:
                path.write_text("namespace one;\n" + text.format(name) + "\n")
                run = subprocess.run([latticec, "json", path], capture_output=True, text=True, check=False)
                if f"no attribute '{name}'" not in run.stderr:
                    break
            else:
                mistakes.append(f"latticec knows no @{name}")
    print("\n".join(mistakes))
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
