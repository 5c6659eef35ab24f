"""Writes snapshot parts, for the tests of the decoder (docs/spec/data.md, "Snapshots"). A state is a list of contents,
as tools/conformance/state.py has them."""

from blocks import CONFIRMS_OWN, DELTA, ESCAPE, FULL, HAS_INPUT, KEEP, PIECE_BYTES, PIECES, PROGRESS, REMOVED, UNCHANGED

WIDE = ("ordinal", "ranged", "bits", "compressed", "angle", "smallest_three")


class BitWriter:
    def __init__(self):
        self.text = ""

    def bits(self, value, n):
        self.text += format(value, f"0{n}b") if n else ""

    def scalar(self, value, n):
        for byte in value.to_bytes(n // 8, "little"):
            self.bits(byte, 8)

    def varint(self, value):
        for _ in range(8):
            if value < 128:
                break
            self.bits(value & 127 | 128, 8)
            value >>= 7
        self.bits(value, 8)

    def pad(self):
        self.text += "0" * (-len(self.text) % 8)

    def bytes(self):
        self.pad()
        return int(self.text or "0", 2).to_bytes(len(self.text) // 8, "big")


# ---- Changes --------------------------------------------------------------------------------------


def _component(w, component, content):
    kind, *numbers = component.text.split() or ["bits", "1"]
    if kind in WIDE:
        w.bits(content, int(numbers[0]))
    elif kind == "varint":
        w.varint(content)
    elif kind == "capacity":
        w.varint(len(content[1]))
        w.bits(int.from_bytes(content[1], "big"), 8 * len(content[1]))
    else:
        w.scalar(content, int(numbers[0]))


def _marks(members, base, state):
    return tuple(int(base[m.first:m.last] != state[m.first:m.last]) for m in members)


def _members(w, layout, members, marks, base, state):
    for member, changed in zip(members, marks):
        if not changed or member.kind == "bool":
            continue
        if member.kind == "delta":
            inner = _marks(member.children, base, state)
            w.bits(int("".join(map(str, inner)), 2), len(inner))
            _members(w, layout, member.children, inner, base, state)
        else:
            for i in range(member.first, member.last):
                _component(w, layout.components[i], state[i])


def changes(w, layout, base, state, previous):
    """Writes what makes `state` of `base`. Returns the mask. `previous` is that of the entry before, if of this type."""
    mask = tuple(_marks(members, base, state) for members in layout.behaviours)
    several = len(layout.behaviours) > 1
    if not layout.has_mask:
        for marks in mask:
            w.bits(int(any(marks)), 1)
        for members, marks in zip(layout.behaviours, mask):
            if any(marks):
                w.bits(int("".join(map(str, marks)), 2), len(marks))
                _members(w, layout, members, marks, base, state)
        return None
    same = mask == previous
    if previous is not None:
        w.bits(int(same), 1)
    if not same:
        for marks in mask if several else ():
            w.bits(int(any(marks)), 1)
        for marks in mask:
            if any(marks) or not several:
                w.bits(int("".join(map(str, marks)), 2), len(marks))
    for members, marks in zip(layout.behaviours, mask):
        _members(w, layout, members, marks, base, state)
    return mask


# ---- Blocks ---------------------------------------------------------------------------------------


def delta(slot, age, type_id, base, state):
    return {"slot": slot, "age": age, "type_id": type_id, "base": base, "state": state}


def full(slot, network_id, head, state):
    """`head` is (type_id, owner, mode, tenure)."""
    return {"slot": slot, "network_id": network_id, "head": head, "type_id": head[0], "state": state}


def removed(slot, left=0, name=None, rpc_count=None):
    return {"slot": slot, "left": left, "name": name, "rpc_count": rpc_count}


def rested(slot, age):
    return {"slot": slot, "age": age}


def gap(w, value, k):
    if value >> k < ESCAPE:
        w.text += "1" * (value >> k) + "0"
        w.bits(value & ((1 << k) - 1), k)
    else:
        w.text += "1" * ESCAPE
        w.varint(value)


def block(schema, kind, entries, k=0, mixed=None):
    """Entries ascend by slot. `mixed` is 1 where ages differ, unless it is given."""
    w, has_age = BitWriter(), "age" in entries[0]
    common = entries[0].get("age")
    if mixed is None:
        mixed = int(any(each.get("age") != common for each in entries))
    w.bits(kind, 3)
    w.bits(mixed, 1)
    w.bits(k, 4)
    w.varint(len(entries))
    if has_age:
        w.varint(common)
    w.varint(entries[0]["slot"])
    previous = last_type = last_mask = None
    for each in entries:
        if previous:
            gap(w, each["slot"] - previous["slot"] - 1, k)
        if mixed:
            w.bits(int(each["age"] != common), 1)
            if each["age"] != common:
                w.varint(each["age"])
        if kind == REMOVED:
            _removed(w, each)
        if kind == FULL:
            _head(w, each, previous)
        if kind in (DELTA, FULL):
            layout = schema.types[each["type_id"]]
            base = each.get("base", layout.zero)
            mask = changes(w, layout, base, each["state"], last_mask if each["type_id"] == last_type else None)
            last_type, last_mask = each["type_id"], mask
        previous = each
    return w.bytes()


def _head(w, entry, previous):
    if previous:
        w.bits(int(entry["head"] == previous["head"]), 1)
    if not previous or entry["head"] != previous["head"]:
        type_id, owner, mode, tenure = entry["head"]
        w.varint(type_id)
        w.varint(owner)
        w.bits(mode, 2)
        w.varint(tenure)
    w.varint(entry["network_id"])


def _removed(w, entry):
    w.bits(entry["left"], 1)
    for name in ("name", "rpc_count"):
        w.bits(int(entry[name] is not None), 1)
        if entry[name] is not None:
            w.varint(entry[name])


def pieces(slot, age, whole, first, count):
    """A block with `count` pieces from `first` on, of the state with the bytes `whole`."""
    w = BitWriter()
    w.bits(PIECES << 5, 8)
    for value in (1, slot, age, len(whole), first, count):
        w.varint(value)
    return w.bytes() + whole[first * PIECE_BYTES:(first + count) * PIECE_BYTES]


def part(tick, *blocks, confirms_own=False, keep=False, inputs=None, interval=None):
    """`inputs` is (input_age, input_margin); `interval` makes a part with unchanged."""
    w = BitWriter()
    w.scalar(tick, 32)
    w.bits((HAS_INPUT if inputs else 0) | (CONFIRMS_OWN if confirms_own else 0) | (KEEP if keep else 0) |
           (UNCHANGED if interval is not None else 0), 8)
    if inputs:
        w.varint(inputs[0])
        w.bits(inputs[1] & 0xFF, 8)
    if interval is not None:
        w.varint(interval)
    return w.bytes() + b"".join(blocks)


def progress_part(tick, objects, missing):
    w = BitWriter()
    w.scalar(tick, 32)
    w.bits(PROGRESS, 8)
    w.varint(objects)
    w.varint(missing)
    return w.bytes()
