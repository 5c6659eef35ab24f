"""Schemas for the test of the dissector: from the text that latticec states, and to a table as latticec writes it."""

import re

from state import COMPONENTS, Component

KINDS = {"ranged", "bits", "compressed", "angle", "half", "full", "smallest_three", "fixed", "varint", "difference",
         "capacity"}


def with_keys(schema):
    """The schema, where each member knows "Structure.member", its name in the dissector."""
    def structure(desc):
        if desc:
            for member in desc["members"]:
                member["key"] = f"{desc['name']}.{member['name']}"
                structure(member.get("structure"))

    for each in schema["types"]:
        for behaviour in each["behaviours"]:
            structure(behaviour["structure"])
        for rpc in each["rpcs"]:
            structure(rpc["arguments"])
    structure(schema["input"] and schema["input"]["structure"])
    return schema


# ---- From the text of the schema hash -------------------------------------------------------------


def read_text(text):
    """The description that state.Schema takes, of a schema text without its channels (D-30)."""
    lines, schema, at = text.splitlines(), {"types": [], "input": None}, 0
    while at < len(lines):
        words = lines[at].split()
        at += 1
        if words[0] == "type":
            schema["types"].append({"type_id": int(words[1]), "name": words[2], "behaviours": [], "rpcs": []})
        elif words[0] == "rpc":
            schema["types"][-1]["rpcs"].append({
                "rpc_id": int(words[1]), "name": words[2], "channel": int(words[4]), "target": int(words[6]),
                "owner_only": int(words[8]), "delivery": int(words[10]), "arguments": None})
        elif words[0] == "input":
            schema["input"] = {"name": words[1], "structure": None}
        else:
            members, at = _members(lines, at, 1)
            structure = {"name": words[1], "delta": False, "union": False, "members": members}
            if schema["input"]:
                schema["input"]["structure"] = structure
            elif schema["types"][-1]["rpcs"]:
                schema["types"][-1]["rpcs"][-1]["arguments"] = structure
            else:
                schema["types"][-1]["behaviours"].append({"name": words[1], "structure": structure})
    return schema


def _members(lines, at, depth):
    members = []
    while at < len(lines) and lines[at].startswith(" " * depth + "member "):
        words = lines[at].split()[1:]
        at += 1
        member = {"name": words.pop(0), "encoding": "default", "flags": 0, "bits": 0, "capacity": 0, "array": 0,
                  "container": "array", "min": 0, "max": 0}
        if words[0] in ("array", "list", "map"):
            member["container"], member["array"] = words[0], int(words[1])
            del words[:2]
        member["type"] = words.pop(0)
        if member["type"] == "struct":
            inner, at = _members(lines, at, depth + 1)
            member["structure"] = {"name": words[0], "delta": words[1] == "delta", "union": words[1] == "union",
                                   "members": inner}
        else:
            member["flags"] = int(words.pop())
            words.pop()
            _packing(member, words)
        members.append(member)
    return members, at


def _packing(member, words):
    kind = words[0] if words else "default"
    if kind == "ordinal":
        member["values"] = [int(word) for word in words[3:]] or list(range(int(words[2])))
    elif kind in ("compressed", "angle"):
        if kind == "compressed":
            member["encoding"] = kind
        low, high, steps = (words[i::5] for i in (2, 3, 4))
        member["quant"] = [[float(a), float(b), (float(b) - float(a)) / int(n)] for a, b, n in zip(low, high, steps)]
    elif kind == "capacity":
        member["capacity"] = int(words[1])
    elif kind == "smallest_three":
        member["encoding"], member["bits"] = kind, (int(words[1]) - 2) // 3
    elif kind == "ranged":
        member["encoding"], member["min"], member["max"] = kind, int(words[2]), int(words[3])
    elif kind == "bits":
        member["encoding"], member["bits"] = kind, int(words[1])
    elif kind != "default":
        member["encoding"] = "varint" if kind == "difference" else kind


# ---- To a table, for schemas that are not in a file -----------------------------------------------


def write_table(name, schema, text):
    """The table of a schema. Values of enums have numbers for names."""
    structures = {}

    def member_line(member):
        words = [f'"{member["name"]}"']
        if member.get("structure"):
            words.append(f'"{add(member["structure"])}"')
        else:
            one = {**member, "array": 0, "container": "array"}
            packing = "".join(Component(one, i).text for i in range(COMPONENTS.get(member["type"], 1)))
            words += [f'"{member["type"]}"'] + ([f'"{packing.strip()}"'] if packing else [])
        container = member.get("container", "array")
        if member["array"] > 1 or container != "array":
            words.append(f"{container} = {member['array']}")
        return "{ " + ", ".join(words) + " },"

    def add(structure):
        kind = "union" if structure.get("union") else "delta" if structure["delta"] else "whole"
        lines = [member_line(member) for member in structure["members"]]
        structures[structure["name"]] = f'{{ name = "{structure["name"]}", kind = "{kind}", ' + "\n".join(lines) + " },"
        return structure["name"]

    types = []
    for each in schema["types"]:
        parts = [f'{{ state = "{b["name"]}", structure = "{add(b["structure"])}" }},' for b in each["behaviours"]]
        for rpc in each["rpcs"]:
            arguments = f', arguments = "{add(rpc["arguments"])}"' if rpc["arguments"] else ""
            parts.append(f'{{ rpc = "{rpc["name"]}", id = {rpc["rpc_id"]}, target = {rpc["target"]}{arguments} }},')
        types.append(f'{{ id = {each["type_id"]}, name = "{each["name"]}", ' + "\n".join(parts) + " },")
    put = schema["input"] and f'input = "{add(schema["input"]["structure"])}",' or ""
    types_text = re.search(r"^(type|input) .*", text, re.S | re.M).group(0)
    return (f'_G.lattice_games = _G.lattice_games or {{}}\n_G.lattice_games["{name}"] = {{ from = "{name}", enums = {{}},\n'
            "structures = {\n" + "\n".join(structures.values()) + "\n},\ntypes = {\n" + "\n".join(types) +
            "\n},\n" + put + "\nschema = [[\n" + types_text + "]],\n}\n")
