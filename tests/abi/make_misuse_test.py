#!/usr/bin/env python3
"""Writes the exhaustive misuse test from the public headers: make_misuse_test.py INCLUDE SYMBOLS OUTPUT

Every LATTICE_API declaration of INCLUDE/lattice/*.h becomes calls with each handle NULL, stale and garbage, each
pointer NULL, each enumeration out of range and each size 0 and maximal, the other arguments valid. misuse_test.h
has the worlds and judges the results. What a comment says decides what is right: a pointer may be NULL only where
the comment says "`name` may be NULL"; a function that leaves lattice_last_result() alone says "Does not set
lattice_last_result()".

Fails on a declaration it cannot read, on an argument it has no valid value for, on a structure without an _init,
and when the functions are not those of SYMBOLS.
"""
import glob
import os
import re
import sys

HANDLES = {"lattice_world*": "world", "lattice_conn*": "conn", "lattice_netsim*": "netsim"}
# Structures that are values inside others, never handed over by themselves.
NO_INIT = {"lattice_quant", "lattice_frame_object", "lattice_event", "lattice_path", "lattice_backend_datagram",
           "lattice_bit_output", "lattice_bit_input"}

# A valid value for an argument: by "type name", else by type.
VALUES = {
    "const char* endpoint": '"10.0.0.1:1000"',
    "const char* server": '"10.0.0.1:1000"',
    "const char* from": '"10.0.0.1:1000"',
    "const char* to": '"10.0.0.2:2000"',
    "const char* name": '"lan"',
    "const char* counter": '"link_duplicate"',
    "const char* text": '"bye"',
    "const lattice_world_config* config": "&f.config",
    "const lattice_role_context* role": "&f.role",
    "uint32_t type_id": "kThingType",
    "uint32_t behaviour": "0",
    "uint32_t index": "0",
    "uint32_t tick": "f.next_tick()",
    "uint32_t count": "1",
    "uint32_t struct_size": "sizeof(uint32_t)",
    "uint16_t prop_id": "0",
    "uint16_t rpc_id": "kThingRpc",
    "lattice_netid object": "f.object",
    "lattice_netid parent": "0",
    "double": "1.0",
    "lattice_peer_id owner": "f.peer",
    "lattice_peer_id peer": "f.peer",
    "lattice_transfer transfer": "0x10000",
    "lattice_capture_fn fn": "nullptr",
    "void* ctx": "nullptr",
    "int reason": "256",
    "int enabled": "1",
    "int held": "0",
    "uint64_t seed": "1",
    "uint64_t ns": "1",
    "size_t cap": "sizeof f.buffer",
    "size_t capacity": "sizeof f.buffer",
    "uint64_t capacity": "sizeof f.buffer",
    "size_t bytes": "sizeof(Thing)",
    "uint64_t bytes": "sizeof(Thing)",
    "size_t len": "sizeof(Thing)",
    "size_t label_bytes": "4",
    "size_t token_bytes": "f.token_bytes",
    "const uint8_t* connect_token": "f.token",
    "const lattice_path*": "&f.path",
    "lattice_path*": "&f.path",
    "size_t*": "&f.size",
    "uint32_t*": "&f.number",
    "uint64_t*": "&f.value",
    "lattice_transfer*": "&f.number",
    "lattice_netid*": "f.ids",
    "lattice_event*": "f.events",
    "intptr_t*": "&f.descriptor",
    "uint64_t timeout_ns": "1",
    "char*": "reinterpret_cast<char*>(f.buffer)",
    "uint8_t*": "f.buffer",
    "const uint8_t*": "f.buffer",
    "void*": "f.buffer",
    "const void*": "f.buffer",
    "const void* const* states": "f.states",
    "size_t state_count": "1",
    "uint64_t key": "7",
}
SIZES = re.compile(r"^(size_t|uint64_t|uint32_t) (cap|capacity|bytes|len|label_bytes|token_bytes|struct_size|state_count|count)$")
# The handle of a network travels as void* where a lattice_clock_fn is expected.
NETSIM_AS_VOID = "void* netsim"


class Unreadable(Exception):
    pass


class Parameter:
    def __init__(self, text, function):
        text = " ".join(text.split())
        array = re.fullmatch(r"(.+?) (\w+)\[\w+\]", text)
        plain = re.fullmatch(r"(.+?[ *])(\w+)", text)
        if not array and not plain:
            raise Unreadable(f"{function.name}: cannot read the parameter '{text}'")
        self.type = array.group(1) + "*" if array else plain.group(1).strip()
        self.name = (array or plain).group(2)
        self.key = f"{self.type} {self.name}"
        self.is_handle = self.type in HANDLES or self.key == NETSIM_AS_VOID
        self.is_pointer = self.type.endswith("*") or self.type.endswith("_fn")
        # "`data` may be NULL" or "`data` may be NULL when `bytes` is 0"
        found = re.search(r"`%s` may be NULL(?: when `(\w+)` is 0)?" % self.name, function.comment)
        self.optional = found is not None or self.name == "ctx"
        self.zero_with = found.group(1) if found else None

    def valid(self, structures, enums, function):
        if self.is_handle:
            return "f." + HANDLES.get(self.type, "netsim")
        for key in (self.key, self.type):
            if key in VALUES:
                return VALUES[key]
        bare = self.type.replace("const ", "").rstrip("*")
        if self.is_pointer and bare in structures:
            return f"f.structure<{bare}>({bare}_init)"
        if self.type in enums:
            return f"static_cast<{self.type}>(0)"
        raise Unreadable(f"{function.name}: no valid value for '{self.key}'. Add one to VALUES.")


class Function:
    def __init__(self, result, name, parameters, comment):
        self.result = " ".join(result.split())
        self.name = name
        self.comment = " ".join(re.sub(r"^///", "", comment, flags=re.M).split())
        self.exempt = "Does not set lattice_last_result()" in self.comment
        text = parameters.strip()
        self.parameters = [] if text in ("", "void") else [Parameter(p, self) for p in text.split(",")]


def read_headers(folder):
    text = ""
    for path in sorted(glob.glob(os.path.join(folder, "lattice", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*\n", "\n", text, flags=re.M)  # without the preprocessor's lines


def functions_of(text):
    found = []
    declaration = re.compile(r"^((?:///[^\n]*\n)*)LATTICE_API\s+([^;]*);", re.M)
    for comment, body in declaration.findall(text):
        shape = re.fullmatch(r"([\w\s]+?[\s*]+)(lattice_\w+)\s*\(([^()]*)\)", body.strip(), re.S)
        if not shape:
            raise Unreadable("cannot read the declaration: LATTICE_API " + " ".join(body.split()))
        found.append(Function(shape.group(1), shape.group(2), shape.group(3), comment))
    if len(found) != len(re.findall(r"^LATTICE_API\b", text, re.M)):
        raise Unreadable("some LATTICE_API declaration was not read")
    return sorted(found, key=lambda f: f.name)


def call_of(function, arguments):
    return f"{function.name}({', '.join(arguments)})"


def misuses_of(function, structures, enums):
    """(what, arguments, expectation) of every misuse, those that may change the worlds last."""
    valid = [p.valid(structures, enums, function) for p in function.parameters]

    def with_value(index, value):
        return valid[:index] + [value] + valid[index + 1:]

    early, late = [], []
    for i, p in enumerate(function.parameters):
        if p.is_handle:
            cast = "" if p.type != "void*" else "(void*)"
            kind = HANDLES.get(p.type, "netsim")
            null = "kOk" if p.optional else "kInvalid"
            early.append((f"{p.name} NULL", with_value(i, "nullptr"), null))
            early.append((f"{p.name} stale", with_value(i, f"{cast}f.stale_{kind}"), "kStale"))
            for number in ("1", "0x7FFFFFFFFFFFFFFF", "0x8000000000000000", "UINT64_MAX"):
                garbage = f"reinterpret_cast<{p.type}>(static_cast<uintptr_t>({number}u))"
                if number == "UINT64_MAX":
                    garbage = f"reinterpret_cast<{p.type}>(UINTPTR_MAX)"
                early.append((f"{p.name} garbage {number}", with_value(i, garbage), "kStale"))
        elif p.is_pointer and p.optional and not p.zero_with:
            late.append((f"{p.name} NULL, as documented", with_value(i, "nullptr"), "kConsistent"))
        elif p.is_pointer:
            early.append((f"{p.name} NULL", with_value(i, "nullptr"), "kInvalid"))
            if p.zero_with:
                arguments = with_value(i, "nullptr")
                arguments[[q.name for q in function.parameters].index(p.zero_with)] = "0"
                late.append((f"{p.name} NULL and {p.zero_with} 0", arguments, "kConsistent"))
        elif p.type in enums:
            for number in ("-1", "0x7FFFFFFF"):
                bad = f"out_of_range<{p.type}>({number})"
                early.append((f"{p.name} {number}", with_value(i, bad), "kRefused"))
        elif SIZES.match(p.key):
            for number in ("0", "1", f"std::numeric_limits<{p.type}>::max()"):
                late.append((f"{p.name} {number}", with_value(i, number), "kConsistent"))
        elif p.type in ("uint16_t", "uint32_t", "uint64_t", "lattice_netid", "lattice_peer_id", "lattice_transfer"):
            for number in ("0", f"std::numeric_limits<{p.type}>::max()"):
                late.append((f"{p.name} {number}", with_value(i, number), "kConsistent"))
        elif p.type == "int":
            for number in ("-1", "std::numeric_limits<int>::min()", "std::numeric_limits<int>::max()"):
                late.append((f"{p.name} {number}", with_value(i, number), "kConsistent"))
        elif p.type == "double":
            for number in ("quiet_NaN()", "infinity()", "lowest()"):
                late.append((f"{p.name} {number}", with_value(i, f"std::numeric_limits<double>::{number}"), "kConsistent"))
        else:
            raise Unreadable(f"{function.name}: no misuse known for '{p.key}'")
    return early + late + [("all valid", valid, "kConsistent")]


def write_function(function, structures, enums):
    needs_conn = any(p.type == "lattice_conn*" for p in function.parameters)
    lines = [f"void misuse_{function.name}(Worlds& f) {{"]
    lines.append("  if (f.conn == nullptr) return;" if needs_conn else "  static_cast<void>(f);")
    for what, arguments, expectation in misuses_of(function, structures, enums):
        if function.exempt:
            expectation = "kExempt"
        lines.append(f'  check(f, "{function.name}", "{what}", Expect::{expectation}, [&] {{')
        if function.result == "lattice_result" and not function.exempt:
            lines.append(f"    return Returned({call_of(function, arguments)});")
        else:
            lines.append(f"    {call_of(function, arguments)};")
            lines.append("    return Returned();")
        lines.append("  });")
    lines.append("}")
    return "\n".join(lines)


def structures_of(text):
    versioned = set(re.findall(r"typedef struct (lattice_\w+) \{", text))
    initialised = set(re.findall(r"^static inline void (lattice_\w+)_init\(", text, re.M))
    missing = versioned - initialised - NO_INIT
    if missing:
        raise Unreadable("no _init for " + ", ".join(sorted(missing)))
    return versioned


def main():
    include, symbols, output = sys.argv[1:4]
    text = read_headers(include)
    structures = structures_of(text)
    enums = set(re.findall(r"typedef enum (lattice_\w+) \{", text))
    functions = functions_of(text)
    with open(symbols, encoding="utf-8") as file:
        exported = set(file.read().split())
    declared = {f.name for f in functions}
    for name in sorted(declared ^ exported):
        raise Unreadable(f"{name} is {'declared' if name in declared else 'exported'} only: see {symbols}")
    body = ["// Generated by tests/abi/make_misuse_test.py from include/lattice. Do not edit.",
            '#include "misuse_test.h"', "", "namespace lattice::misuse {", "namespace {", ""]
    body += [write_function(f, structures, enums) + "\n" for f in functions]
    body += ["}  // namespace", "", "const std::vector<Misuse>& misuses() {", "  static const std::vector<Misuse> all = {"]
    body += [f'      {{"{f.name}", misuse_{f.name}}},' for f in functions]
    body += ["  };", "  return all;", "}", "", "void initialise_null() {"]
    for name in sorted(set(re.findall(r"^static inline void (lattice_\w+_init)\(", text, re.M))):
        more = ", LATTICE_ROLE_CLIENT" if name == "lattice_role_context_init" else ""
        body.append(f"  {name}(nullptr{more});")
    body += ["}", "", "}  // namespace lattice::misuse", ""]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(body))
    print(f"{len(functions)} functions, {sum(len(misuses_of(f, structures, enums)) for f in functions)} calls")


if __name__ == "__main__":
    try:
        main()
    except Unreadable as problem:
        sys.exit(f"make_misuse_test.py: {problem}")
