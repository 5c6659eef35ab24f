#!/usr/bin/env python3
"""Writes the calls of the target c_interface from the public headers: make_calls.py INCLUDE SYMBOLS OUTPUT

Every exported function becomes a function that takes its arguments from the input (c_interface.h), calls, and
judges the result: it must be one that the comment of the function or of its header names. A comment that says "As lattice_x()"
names the results of lattice_x() too. The declarations are read as tests/abi/make_misuse_test.py reads them.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "abi"))
import make_misuse_test as headers  # noqa: E402

HANDLES = {"lattice_world*": "world", "lattice_conn*": "conn", "lattice_netsim*": "netsim"}
# Results that any function may have (lattice.h).
GENERAL = {"LATTICE_OK", "LATTICE_ERROR_INVALID_ARGUMENT", "LATTICE_ERROR_STALE_HANDLE"}
FORBIDDEN_IN_CALLBACKS = {"lattice_world_recv", "lattice_world_tick", "lattice_world_send", "lattice_world_pump",
                          "lattice_world_destroy", "lattice_set_capture", "lattice_world_wait", "lattice_world_events",
                          "lattice_world_leave", "lattice_world_set_issuers"}
# Arguments by "type name", else by type. See the members of Play with these names.
ARGUMENTS = {
    "const char* endpoint": "f.address()", "const char* server": "f.address()",
    "const char* from": "f.address()", "const char* to": "f.address()",
    "const char* name": "f.name()", "const char* counter": "f.name()", "const char* text": "f.name()",
    "uint32_t struct_size": "f.struct_size()", "uint32_t tick": "f.tick()", "uint32_t type_id": "f.type_id()",
    "uint32_t behaviour": "f.small()", "uint32_t index": "f.small()", "uint32_t count": "f.small()",
    "uint16_t prop_id": "f.prop_id()", "uint16_t rpc_id": "f.rpc_id()",
    "lattice_netid": "f.object()", "lattice_peer_id": "f.peer()", "lattice_transfer": "f.transfer()",
    "uint64_t key": "f.small()", "uint64_t seed": "f.small()", "uint64_t ns": "f.time_ns()", "uint64_t timeout_ns": "f.time_ns()",
    "uint64_t capacity": "f.borrowed_bytes()", "int": "f.integer()", "double": "f.real()",
    "size_t state_count": "f.state_count()", "size_t": "f.bytes()", "uint64_t bytes": "f.borrowed_bytes()",
    "const uint8_t* connect_token": "f.token()", "size_t token_bytes": "f.token_bytes()",
    "lattice_capture_fn": "f.capture()", "void* ctx": "&f",
    "const void* const*": "f.states()", "void* memory": "f.borrowed()",
    "const void* data": "f.given()", "const void*": "f.given()", "const uint8_t*": "f.key()",
    "lattice_netid*": "f.ids()", "lattice_event*": "f.events()", "intptr_t*": "f.place<intptr_t>()", "char*": "f.text_room()",
    "uint8_t*": "f.room()", "void*": "f.room()", "const lattice_path*": "f.path()", "lattice_path*": "f.place<lattice_path>()", "size_t*": "f.place<size_t>()", "uint32_t*": "f.place<uint32_t>()",
    "uint64_t*": "f.place<uint64_t>()", "lattice_transfer*": "f.transfer_place()",
}


def argument_of(parameter, structures, enums, function):
    if parameter.type in HANDLES:
        return f"f.{HANDLES[parameter.type]}()"
    if parameter.key == headers.NETSIM_AS_VOID:
        return "f.netsim()"
    for key in (parameter.key, parameter.type):
        if key in ARGUMENTS:
            return ARGUMENTS[key]
    bare = parameter.type.replace("const ", "").rstrip("*")
    if parameter.is_pointer and bare in structures:
        return f"f.structure<{bare}>()"
    if parameter.type in enums:
        return f"f.enumeration<{parameter.type}>()"
    raise headers.Unreadable(f"{function.name}: no argument for '{parameter.key}'. Add one to ARGUMENTS.")


def header_results(include):
    """By function: the results that the comment at the head of its header names."""
    found = {}
    for path in glob.glob(os.path.join(include, "lattice", "*.h")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head = re.match(r"(?:///[^\n]*\n)*", text).group(0)
        for name in re.findall(r"^LATTICE_API[^;]*?\b(lattice_\w+)\(", text, re.M):
            found.setdefault(name, set()).update(re.findall(r"LATTICE_ERROR_\w+", head))
    return found


def results_of(name, functions, of_header, seen=()):
    """The results that the comments name, and those of the functions that the comment compares with."""
    found = GENERAL | of_header[name]
    if name in functions and name not in seen:
        comment = functions[name].comment
        found |= set(re.findall(r"LATTICE_ERROR_\w+", comment))
        for other in re.findall(r"\b[Aa]s (lattice_\w+)\(", comment):
            found |= results_of(other, functions, of_header, (*seen, name))
    return found


def write_function(function, functions, of_header, structures, enums):
    lines = [f"void call_{function.name}(Play& f) {{"]
    names = []
    for p in function.parameters:
        value = argument_of(p, structures, enums, function)
        lines.append(f"  const auto {p.name}_value = {value};")
        names.append(f"{p.name}_value")
    handle = next((n for n, p in zip(names, function.parameters) if p.type == "lattice_world*"), "nullptr")
    lines.append(f"  f.begin({handle});")
    call = f"{function.name}({', '.join(names)})"
    returned = "0"
    if function.result == "void":
        lines.append(f"  {call};")
    else:
        lines.append(f"  const auto returned = {call};")
        returned = "number_of(returned)"
    bits = " | ".join(f"1u << {r}" for r in sorted(results_of(function.name, functions, of_header)))
    kind = "kNumber"
    if function.exempt:
        kind = "kExempt"
    elif function.result == "lattice_result":
        kind = "kResult"
    forbidden = "true" if function.name in FORBIDDEN_IN_CALLBACKS else "false"
    lines.append(f"  f.end(\"{function.name}\", {{Returns::{kind}, {returned}, {bits}, {handle}, {forbidden}}});")
    if function.name == "lattice_world_create":
        lines.append("  f.keep_world(returned);")
    if function.name == "lattice_netsim_create":
        lines.append("  f.keep_netsim(returned);")
    if function.name == "lattice_connect":
        lines.append("  f.keep_conn(returned);")
    if function.name in ("lattice_spawn", "lattice_spawn_for"):
        lines.append("  f.keep_object(returned);")
    lines.append("}")
    return "\n".join(lines)


def members_of(text, structure):
    """(type, name) of the members of `structure` that are plain numbers."""
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (structure, structure), text, re.S).group(1)
    body = re.sub(r"//[^\n]*", "", body)
    numbers = r"uint8_t|uint16_t|uint32_t|uint64_t|int|double|size_t|lattice_\w+"
    found = re.findall(r"^\s*(%s) (\w+);" % numbers, body, re.M)
    # A count goes with an array of so many elements: a larger one is no misuse that a library can see.
    return [name for kind, name in found
            if name != "struct_size" and not kind.endswith("_fn") and not name.endswith("_count")]


def main():
    include, symbols, output = sys.argv[1:4]
    text = headers.read_headers(include)
    structures = headers.structures_of(text)
    enums = set(re.findall(r"typedef enum (lattice_\w+) \{", text))
    of_header = header_results(include)
    functions = {f.name: f for f in headers.functions_of(text)}
    with open(symbols, encoding="utf-8") as file:
        if set(file.read().split()) != set(functions):
            raise headers.Unreadable(f"the functions of {include} are not those of {symbols}")
    body = ["// Generated by fuzz/make_calls.py from include/lattice. Do not edit.", '#include "c_interface.h"', "",
            "namespace lattice::fuzz {", ""]
    used = set()
    for function in functions.values():
        for p in function.parameters:
            bare = p.type.replace("const ", "").rstrip("*")
            if p.is_pointer and bare in structures:
                used.add(bare)
    for structure in sorted(used):
        names = members_of(text, structure)
        body += [f"void change_member([[maybe_unused]] {structure}& out, Play& f) {{",
                 f"  switch (f.u8() % {len(names) + 1}) {{"]
        for i, name in enumerate(names):
            body.append(f"    case {i}: return f.change(out.{name});")
        body += ["    default: return;", "  }", "}", ""]
    body += ["namespace {", ""]
    body += [write_function(f, functions, of_header, structures, enums) + "\n" for f in functions.values()]
    body += ["}  // namespace", "", "const std::vector<CallOf>& calls() {", "  static const std::vector<CallOf> all = {"]
    body += [f"      call_{name}," for name in functions]
    body += ["  };", "  return all;", "}", "", "}  // namespace lattice::fuzz", ""]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(body))


if __name__ == "__main__":
    try:
        main()
    except headers.Unreadable as problem:
        sys.exit(f"make_calls.py: {problem}")
