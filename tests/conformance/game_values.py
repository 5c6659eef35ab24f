"""Which values of members the decoder (tools/conformance/state.py) reads, in order, as the dissector should show them."""

import contextlib
import math
import struct

from state import ANGLE, COMPONENTS, PI, WIDTH, Layout, Member, quant_steps, quant_value, rotation_rest

AXES = (".x", ".y", ".z", ".w")


@contextlib.contextmanager
def recording():
    """Gives a list to which everything that is read from now on is added: [(name in the dissector, value)]."""
    found = []
    make, whole, changes = Member.__init__, Layout._read_whole, Layout._read_changes

    def record(member, contents):
        if not member.children and member.kind in ("plain", "bool"):
            values = contents[member.first:member.last]
            found.extend(zip(names(member.desc), (value_of(member.desc, i, c) for i, c in enumerate(values))))

    def read_whole(self, bits, member, contents):
        whole(self, bits, member, contents)
        record(member, contents)

    def read_changes(self, bits, member, base, contents):
        changes(self, bits, member, base, contents)
        record(member, contents)

    Layout._read_whole, Layout._read_changes = read_whole, read_changes
    try:
        yield found
    finally:
        Member.__init__, Layout._read_whole, Layout._read_changes = make, whole, changes


def keep_descriptions():
    """Lets members of layouts that are made from now on know their descriptions."""
    make = Member.__init__

    def init(self, desc, components, depth):
        make(self, desc, components, depth)
        self.desc = desc

    Member.__init__ = init


def names(desc):
    n = COMPONENTS.get(desc["type"], 1)
    return [desc["key"] + AXES[i] for i in range(n)] if n > 1 else [desc["key"]]


def _ieee(content, form):
    size = struct.calcsize(form)
    return struct.unpack(form, content.to_bytes(size, "little"))[0]


def _rotation(content, n):
    """D-5, receiver."""
    top = (1 << n) - 2
    codes = [content >> (k * n) & ((1 << n) - 1) for k in (2, 1, 0)]
    kept = [2 * code - top for code in codes]
    kept.insert(content >> 3 * n, math.sqrt(rotation_rest(codes, top)))
    return tuple(distance / (math.sqrt(2) * top) for distance in kept)


def value_of(desc, index, content):
    """What a content stands for: a number, a bool, a text or, of a rotation, four numbers."""
    kind, stated = desc["type"], desc["encoding"]
    if kind == "bool":
        return bool(content)
    if kind == "enum":
        return ("enum", content, desc["values"][content])
    if kind == "string":
        return content[1].decode("utf-8")
    if kind == "fixed_string":
        return "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in content[1])
    if kind == "bytes":
        return ":".join(f"{byte:02x}" for byte in content[1])
    if kind == "custom":
        return ("custom",)
    if kind == "quaternion":
        if stated == "full":
            return struct.unpack("<4f", content.to_bytes(16, "little"))
        return _rotation(content, desc["bits"] or 10)
    if kind == "fixed64":
        return (content - (content >> 63 << 64)) / 2 ** 32
    if kind in ("float", "double") or kind in COMPONENTS:
        if desc["flags"] & ANGLE or stated == "compressed" or stated == "default" and "quant" in desc:
            low, high, precision = map(float, desc["quant"][index] if "quant" in desc else [-PI, PI, 2 * PI / 65536])
            return quant_value(content, low, high, quant_steps(low, high, precision))
        return _ieee(content, "<e" if stated == "half" else "<f" if WIDTH[kind] == 32 else "<d")
    if stated == "ranged":
        return content + desc["min"]
    signed = kind.startswith("int")
    is_varint = stated == "varint" or stated == "default" and signed and WIDTH[kind] >= 32
    if signed and is_varint:
        return (content >> 1) ^ -(content & 1)
    return content - (content >> (WIDTH[kind] - 1) << WIDTH[kind]) if signed else content


def agrees(shown, expected, enums=None):
    """Whether a text of tshark is this value."""
    if isinstance(expected, tuple) and expected[0] == "custom":
        return True
    if isinstance(expected, tuple) and expected[0] == "enum":
        return shown == (enums[expected[1]] if enums else str(expected[2]))
    if isinstance(expected, tuple):
        parts = [float(part) for part in shown.strip("()").split(", ")]
        return len(parts) == 4 and all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5) for a, b in zip(parts, expected))
    if isinstance(expected, bool):
        return shown == str(int(expected))
    if isinstance(expected, int):
        return shown == str(expected)
    if isinstance(expected, float):
        # tshark shows 15 digits, and no sign of a zero.
        if math.isnan(expected):
            return "nan" in shown.lower()
        return math.isclose(float(shown), expected, rel_tol=1e-13, abs_tol=0)
    # Tabs and ends of lines are escaped in some fields, and spaces in others.
    spaced = "".join(" " if c in "\t\n\r" else _escaped(c) for c in expected)
    return shown in ("".join(_escaped(c) for c in expected), spaced)


def _escaped(c):
    """As tshark writes it."""
    return c if c not in "\t\n\r" and c >= " " and c != "\x7f" else f"\\x{ord(c):x}"
