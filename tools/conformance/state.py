"""Bit-packed bodies: schema, layouts, deltas, inputs, RPCs (docs/spec/data.md). Snapshots are in snapshots.py.

A state is a list of contents, one per component, in order. A content is an int, ("x", bytes) for text and bytes, or
("b", bit count, bytes) for a custom value."""

import math
import struct
from decimal import Decimal

from packets import Malformed, is_text, read_varint, require
from primitives import sha256

WIDTH = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64,
         "fixed64": 64, "netid": 64, "tick": 32, "float": 32, "double": 64, "vector2": 32, "vector3": 32, "vector4": 32,
         "dvector2": 64, "dvector3": 64, "dvector4": 64}
COMPONENTS = {"vector2": 2, "vector3": 3, "vector4": 4, "dvector2": 2, "dvector3": 3, "dvector4": 4}
ANGLE = 128  # a bit of a member's flags
FLAGS_OF_THE_HASH = 255  # D-31
PI = 3.141592653589793
TEXT = ("string", "fixed_string", "bytes")
LARGEST_MASK_BITS = 64  # D-43


class Bits:
    """A cursor over bits, bit 7 of each byte first."""

    def __init__(self, data):
        self.value, self.size, self.at = int.from_bytes(data, "big"), len(data) * 8, 0

    def bits(self, n):
        require(self.at + n <= self.size, f"body ends at bit {self.size}, inside a field of {n} bits at {self.at}")
        self.at += n
        return (self.value >> (self.size - self.at)) & ((1 << n) - 1)

    def scalar(self, n):
        return int.from_bytes(self.bits(n).to_bytes(n // 8, "big"), "little")

    def bytes(self, n):
        return self.bits(8 * n).to_bytes(n, "big")

    def varint(self, limit=64):
        value = read_varint(lambda: self.bits(8))
        require(value < 1 << limit, f"varint {value} does not fit {limit} bits (W-5)")
        return value

    def left(self):
        return self.size - self.at

    def pad(self):
        """Goes on at the next byte."""
        require(self.bits(-self.at % 8) == 0, "padding is not zero (D-18)")

    def end(self):
        require(self.size - self.at < 8, f"{self.size - self.at} bits behind the end (D-1)")
        require(self.bits(self.size - self.at) == 0, "padding is not zero (D-1)")


def bit_count(largest):
    return largest.bit_length()


def decimal_text(v):
    """A number as decimal text (D-32)."""
    if v == 0:
        return "-0" if math.copysign(1, v) < 0 else "0"
    sign, digits, exponent = Decimal(repr(v)).normalize().as_tuple()
    d = "".join(map(str, digits))
    power = exponent + len(d) - 1
    scientific = d[0] + ("." + d[1:] if len(d) > 1 else "") + f"e{'-' if power < 0 else '+'}{abs(power):02d}"
    if exponent >= 0:
        fixed = d + "0" * exponent
    elif power >= 0:
        fixed = d[:power + 1] + "." + d[power + 1:]
    else:
        fixed = "0." + "0" * (-power - 1) + d
    return ("-" if sign else "") + (fixed if len(fixed) <= len(scientific) else scientific)


def quant_steps(low, high, precision):
    """The number of steps, N of D-4."""
    r = (high - low) / precision
    whole = math.floor(r)
    fraction = r - whole
    return max(1, whole if fraction <= r * 2.0 ** -22 and fraction < 0.5 else math.ceil(r))


def angle_code(v, low, high, steps):
    """The code of an angle (D-39)."""
    distance = ((v if math.isfinite(v) else 0.0) - low) * (steps / (high - low))
    return math.floor(distance + 0.5) % steps if abs(distance) < 2.0 ** 52 else 0


def quant_value(code, low, high, steps):
    """The value of a code (D-4, D-39)."""
    return high if code == steps else low + code * ((high - low) / steps)


def rotation_rest(codes, top):
    """The square of the component that is left out, in half steps (D-5)."""
    return 2 * top * top - sum((2 * code - top) ** 2 for code in codes)


# ---- Components -----------------------------------------------------------------------------------


class Component:
    """One component of a member. `read` returns its content; `zero` is its content in the zero baseline (D-6)."""

    def __init__(self, member, index):
        self.type = member["type"]
        self.zero, self.text = 0, ""
        self.number = lambda content: content  # of a key (D-62)
        getattr(self, "_" + self._encoding(member))(member, index)

    def _encoding(self, member):
        kind, stated = self.type, member["encoding"]
        if kind in ("bool", "enum", "custom"):
            return kind
        if kind in TEXT:
            return "bytes"
        if member["flags"] & ANGLE:
            return "angle"
        if kind == "quaternion":
            return "rotation" if stated in ("default", "smallest_three") else "full_rotation"
        if kind in ("float", "double") or kind in COMPONENTS:
            compressed = "quant" in member if stated == "default" else stated == "compressed"
            return "compressed" if compressed else "half" if stated == "half" else "full"
        if stated == "default":
            stated = "fixed" if WIDTH[kind] <= 16 or kind == "fixed64" else "varint"
        return "difference" if kind in ("fixed64", "tick") and stated == "varint" else stated

    def _code(self, largest, text, zero=0):
        """Sets up an n-bit field that holds 0 … largest."""
        width = bit_count(largest)

        def read(bits, _):
            code = bits.bits(width)
            require(code <= largest, f"code {code} above {largest} (D-3)")
            return code
        self.read, self.zero = read, zero
        self.text = f" {text.format(w=width)}" if text else ""

    def _bool(self, member, index):
        self._code(1, "")

    def _enum(self, member, index):
        values = member["values"]
        text = "ordinal {w} " + str(len(values))
        if values != list(range(len(values))):
            text += "".join(f" {v}" for v in values)
        self._code(len(values) - 1, text, values.index(0) if 0 in values else 0)
        self.number = lambda ordinal: values[ordinal]

    def _ranged(self, member, index):
        low, high = member["min"], member["max"]
        self._code(high - low, f"ranged {{w}} {low} {high}", min(max(0, low), high) - low)

    def _bits(self, member, index):
        self._code((1 << member["bits"]) - 1, "bits {w}")

    def _compressed(self, member, index):
        low, high, precision = map(float, member["quant"][index])
        steps = quant_steps(low, high, precision)
        nearest = min(max(0.0, low), high)
        zero = math.floor((nearest - low) * (steps / (high - low)) + 0.5)
        self._code(steps, f"compressed {{w}} {decimal_text(low)} {decimal_text(high)} {steps}", zero)

    def _angle(self, member, index):
        """Sets up an angle (D-39)."""
        low, high, precision = map(float, member.get("quant", [[-PI, PI, 2 * PI / 65536]])[0])
        steps = quant_steps(low, high, precision)
        self.code = lambda v: angle_code(v, low, high, steps)
        self._code(steps - 1, f"angle {{w}} {decimal_text(low)} {decimal_text(high)} {steps}", self.code(0.0))

    def _rotation(self, member, index):
        n = member["bits"] or 10
        top = (1 << n) - 2

        def read(bits, _):
            packed = bits.bits(2 + 3 * n)
            codes = [packed >> (k * n) & ((1 << n) - 1) for k in (2, 1, 0)]
            for code in codes:
                require(code <= top, f"rotation code {code} above {top} (D-3)")
            require(rotation_rest(codes, top) >= 0, "a rotation longer than 1 (D-3)")
            return packed
        self.read, self.text = read, f" smallest_three {2 + 3 * n}"
        middle = top // 2
        self.zero = ((3 << n | middle) << n | middle) << n | middle

    def _full_rotation(self, member, index):
        def read(bits, _):
            raw = bits.bytes(16)
            length = sum(v * v for v in struct.unpack("<4f", raw))
            require(math.isfinite(length) and length > 0, "a rotation of length 0 or not finite (D-3)")
            return int.from_bytes(raw, "little")
        self.read, self.text = read, " full 128"
        self.zero = int.from_bytes(struct.pack("<4f", 0, 0, 0, 1), "little")

    def _fixed(self, member, index):
        width = WIDTH[self.type]
        self.read, self.text = lambda bits, _: bits.scalar(width), f" fixed {width}"
        if self.type.startswith("int"):
            self.number = lambda raw: raw - (raw >> (width - 1) << width)

    def _half(self, member, index):
        self._code((1 << 16) - 1, "half 16")

    def _full(self, member, index):
        width = WIDTH[self.type]
        self.read, self.text = lambda bits, _: bits.scalar(width), f" full {width}"

    def _varint(self, member, index):
        width = WIDTH[self.type]  # of a signed number, the zig-zag value is the content
        self.read, self.text = lambda bits, _: bits.varint(width), f" varint {width}"
        if self.type.startswith("int"):
            self.number = lambda z: (z >> 1) ^ -(z & 1)

    def _difference(self, member, index):
        width = WIDTH[self.type]

        def read(bits, base):
            z = bits.varint(width)
            return (base + ((z >> 1) ^ -(z & 1))) % (1 << width)
        self.read, self.text = read, f" difference {width}"

    def _bytes(self, member, index):
        capacity = member["capacity"] or 1024

        def read(bits, _):
            n = bits.varint()
            require(n <= capacity, f"length {n} above {capacity} (D-3)")
            data = bits.bytes(n)
            require(self.type != "string" or is_text(data), "not text (W-26)")
            require(self.type == "bytes" or 0 not in data, "a zero byte in a string (D-3)")
            return ("x", data)
        self.read, self.zero, self.text = read, ("x", b""), f" capacity {capacity}"

    def _custom(self, member, index):
        custom, capacity = member["custom"], member["capacity"]

        def read(bits, _):
            start, values = bits.at, {}
            for field in custom["fields"]:
                for _ in range(values[field["times"]] if "times" in field else 1):
                    values[field["name"]] = bits.bits(field["bits"])
            count = bits.at - start
            require(count <= capacity * 8, "a custom value above its capacity")
            bits.at = start
            data = bits.bits(count) << (-count % 8)
            return ("b", count, data.to_bytes((count + 7) // 8, "big"))
        self.read = read
        count = sum(f["bits"] for f in custom["fields"] if "times" not in f)
        self.zero = ("b", count, bytes((count + 7) // 8))
        self.text = f" {custom['name']} capacity {capacity}"


def content_text(content):
    """A content in the form of a recorded session's last line."""
    if isinstance(content, int):
        return str(content)
    if content[0] == "x":
        return "x:" + content[1].hex()
    return f"b:{content[1]}:{content[2].hex()}"


class Head:
    """The length of a list or a map, or the tag of a union: a component of a member, which the member reads."""
    zero = 0


# ---- Layouts --------------------------------------------------------------------------------------


class Member:
    def __init__(self, desc, components, depth):
        self.first = len(components)
        self.children, self.kind = [], "plain"
        indent = " " * depth
        count = desc.get("array", 0)
        container = desc.get("container", "array")
        if count > 1 or container != "array":  # the elements are the children
            self.kind = "delta" if container == "array" else container
            if container != "array":
                components.append(Head())
            self.children = [Member({**desc, "array": 0, "container": "array"}, components, depth) for _ in range(count)]
            first = self.children[0].lines
            name = f"member {desc['name']}"
            self.lines = [first[0].replace(name, f"{name} {container} {count}", 1)] + first[1:]
        elif desc["type"] == "struct":
            inner = desc["structure"]
            self.kind = "union" if inner.get("union") else "delta" if inner["delta"] else "whole"
            if inner.get("union"):
                components.append(Head())
            self.lines = [f"{indent}member {desc['name']} struct {inner['name']} {self.kind}"]
            self.children = [Member(m, components, depth + 1) for m in inner["members"]]
            self.lines += [line for child in self.children for line in child.lines]
        else:
            own = [Component(desc, i) for i in range(COMPONENTS.get(desc["type"], 1))]
            components += own
            if desc["type"] == "bool":
                self.kind = "bool"
            texts = "".join(c.text for c in own)
            self.lines = [f"{indent}member {desc['name']} {desc['type']}{texts} flags {desc['flags'] & FLAGS_OF_THE_HASH}"]
        self.last = len(components)
        self.size = self.last - self.first
        self.head_bits = bit_count(len(self.children))  # of the length or the tag


class Layout:
    """`structures` is [(name, structure)]. A delta of an object (D-8) has presence bits; one of a single structure has
    none. Entries of snapshots write the changes of an object with one mask of all its behaviours (D-43)."""

    def __init__(self, structures, is_object):
        self.components, self.is_object, self.behaviours, self.lines = [], is_object, [], []
        for name, structure in structures:
            members = [Member(m, self.components, 1) for m in structure["members"]]
            self.behaviours.append(members)
            self.lines += [f"behaviour {name}"] + [line for m in members for line in m.lines]
        self.zero = [c.zero for c in self.components]
        presence_bits = len(self.behaviours) if len(self.behaviours) > 1 else 0
        self.has_mask = presence_bits + sum(map(len, self.behaviours)) <= LARGEST_MASK_BITS

    def read_whole(self, bits):
        state = list(self.zero)
        for members in self.behaviours:
            for member in members:
                self._read_whole(bits, member, state)
        return state

    def _reset(self, member, state):
        state[member.first:member.last] = self.zero[member.first:member.last]

    def _read_whole(self, bits, member, state):
        """A member that is written whole (D-7)."""
        self._reset(member, state)
        if member.kind in ("list", "map", "union"):
            head = self._read_head(bits, member, state)
            if member.kind == "union":
                counting = member.children[head - 1:head] if head else []
            else:
                counting = member.children[:head]
            for child in counting:
                self._read_whole(bits, child, state)
            if member.kind == "map":
                self._check_keys([self._key(child, state) for child in counting])
        elif member.children:
            for child in member.children:
                self._read_whole(bits, child, state)
        else:
            for i in range(member.first, member.last):
                state[i] = self.components[i].read(bits, 0)

    def _read_head(self, bits, member, state):
        head = bits.bits(member.head_bits)
        require(head <= len(member.children), f"a length or tag of {head} above {len(member.children)} (D-7)")
        state[member.first] = head
        return head

    def _key(self, entry, state):
        first = entry.children[0].first
        return self.components[first].number(state[first])

    def _check_keys(self, keys):
        require(all(a < b for a, b in zip(keys, keys[1:])), "keys that do not ascend (D-7, D-64)")

    def _read_list(self, bits, member, base, state):
        length = base[member.first]
        if bits.bits(1):
            require(self._read_head(bits, member, state) != length, "a length that did not change (D-63)")
            length = state[member.first]
        for element in member.children[length:]:
            self._reset(element, state)
        self._read_marked_each(bits, member.children[:length], base, state)

    def _read_marked_each(self, bits, elements, base, state):
        for element in elements:
            if bits.bits(1):
                self._read_changes(bits, element, base, state)

    def _read_map(self, bits, member, base, state):
        entries = []  # (key, contents)
        before = base[member.first]
        for entry in member.children[:before]:
            changed = list(base)
            if bits.bits(1):
                if bits.bits(1):
                    continue
                values = entry.children[1:]
                if entry.kind == "delta":
                    self._read_members(bits, values, base, changed)
                else:
                    for value in values:
                        self._read_whole(bits, value, changed)
                require(changed[entry.first:entry.last] != base[entry.first:entry.last],
                        "an entry marked as changed that does not differ (D-64)")
            entries.append((self._key(entry, base), changed[entry.first:entry.last]))
        old, new = {self._key(entry, base) for entry in member.children[:before]}, []
        while len(entries) < len(member.children) and bits.bits(1):
            entry, scratch = member.children[0], list(state)
            self._read_whole(bits, entry, scratch)
            new.append(self._key(entry, scratch))
            entries.append((new[-1], scratch[entry.first:entry.last]))
        self._check_keys(new)
        require(not old & set(new), "a new entry with the key of an old one (D-64)")
        self._reset(member, state)
        state[member.first] = len(entries)
        for entry, (_, contents) in zip(member.children, sorted(entries, key=lambda e: e[0])):
            state[entry.first:entry.last] = contents

    def _read_union(self, bits, member, base, state):
        tag = base[member.first]
        if bits.bits(1):
            self._reset(member, state)
            require(self._read_head(bits, member, state) != tag, "a tag that did not change (D-63)")
            if state[member.first]:
                self._read_whole(bits, member.children[state[member.first] - 1], state)
        else:
            require(tag, "changes of no alternative (D-63)")
            self._read_changes(bits, member.children[tag - 1], base, state)

    def read_delta(self, bits, base):
        state = list(base)
        present = [bits.bits(1) if self.is_object else 1 for _ in self.behaviours]
        for members, there in zip(self.behaviours, present):
            if there:
                mask = self._read_members(bits, members, base, state)
                require(mask or not self.is_object, "a present behaviour that does not differ (D-10)")
        return state

    def read_mask(self, bits):
        """The mask of all behaviours (D-43): for each a tuple of one bit per member."""
        several = len(self.behaviours) > 1
        present = [bits.bits(1) if several else 1 for _ in self.behaviours]
        mask = tuple(tuple(bits.bits(1) if there else 0 for _ in members)
                     for members, there in zip(self.behaviours, present))
        for there, marks in zip(present, mask):
            require(not several or bool(there) == any(marks), "a behaviour that is marked without a member (D-43)")
        return mask

    def read_marked(self, bits, mask, base):
        """The state that the members behind a mask make of `base`."""
        state = list(base)
        for members, marks in zip(self.behaviours, mask):
            self._read_marked(bits, members, marks, base, state)
        return state

    def _read_members(self, bits, members, base, state):
        mask = [bits.bits(1) for _ in members]
        self._read_marked(bits, members, mask, base, state)
        return any(mask)

    def _read_marked(self, bits, members, mask, base, state):
        for member, changed in zip(members, mask):
            if changed:
                self._read_changes(bits, member, base, state)

    def _read_changes(self, bits, member, base, state):
        if member.kind == "bool":
            state[member.first] = 1 - base[member.first]
        elif member.kind == "delta":
            self._read_members(bits, member.children, base, state)
        elif member.kind == "whole":
            self._read_whole(bits, member, state)
        elif member.kind == "plain":
            for i in range(member.first, member.last):
                state[i] = self.components[i].read(bits, base[i])
        else:
            {"list": self._read_list, "map": self._read_map, "union": self._read_union}[member.kind](
                bits, member, base, state)
        require(state[member.first:member.last] != base[member.first:member.last],
                "a member marked as changed that does not differ (D-10)")


# ---- Schema ---------------------------------------------------------------------------------------


class Schema:
    def __init__(self, desc, channels):
        self.types, self.rpcs = {}, {}
        lines = ["lattice schema 1", "wire 1.0", "channels"]
        lines += [f"channel {n} {mode}" for n, mode in sorted(channels.items())]
        for t in sorted(desc["types"], key=lambda t: t["type_id"]):
            layout = Layout([(b["name"], b["structure"]) for b in t["behaviours"]], True)
            self.types[t["type_id"]] = layout
            lines += [f"type {t['type_id']} {t['name']} object"] + layout.lines
            for rpc in sorted(t["rpcs"], key=lambda r: r["rpc_id"]):
                lines.append(f" rpc {rpc['rpc_id']} {rpc['name']} channel {rpc['channel']} target {rpc['target']} "
                             f"owner_only {rpc['owner_only']} delivery {rpc['delivery']}")
                arguments = rpc["arguments"] and Layout([(rpc["arguments"]["name"], rpc["arguments"])], False)
                if arguments:
                    lines += arguments.lines
                self.rpcs[t["type_id"], rpc["rpc_id"]] = (rpc, arguments)
        command, self.input = desc["input"], None
        if command:
            self.input = Layout([(command["structure"]["name"], command["structure"])], False)
            lines += [f"input {command['name']}"] + self.input.lines
        self.text = "\n".join(lines) + "\n"
        self.id = int.from_bytes(sha256(self.text.encode())[:8], "little")


# ---- Inputs and RPCs ------------------------------------------------------------------------------


MAX_SIGHT_TICKS = 4096


def _age(bits, tick, limit, unit):
    """A moment as an age against `tick`, in parts of a tick; None for none."""
    said = bits.varint(32)
    return None if said == 0 else _moment(tick * unit - (said - 1), tick, limit, unit)


def _moment(moment, tick, limit, unit):
    # Before tick 0 are the last ticks before the numbers came round.
    require(0 <= tick * unit - moment <= limit * unit and moment // unit != 0, "a moment that its input cannot name (D-45)")
    return moment


def _older_view(bits, newer, tick):
    code = bits.bits(2)
    if code == 3:
        view = _age(bits, tick, MAX_SIGHT_TICKS, 256)
        drift = None if None in (view, newer) else view - (newer - 256)
        require(drift is None and (view, newer) != (None, None) or drift is not None and not -256 <= drift <= 256,
                "a view in the long form (D-46)")
        return view
    if newer is None:
        require(code == 0, "a view against none (D-46)")
        return None
    if code == 0:
        return _moment(newer, tick, MAX_SIGHT_TICKS, 256)
    drift = bits.bits(5) - 16 if code == 1 else bits.bits(9) - 256
    require(code == 1 or not -16 <= drift < 16, "a view in the longer form (D-46)")
    return _moment(newer - 256 + drift, tick, MAX_SIGHT_TICKS, 256)


def _older_snapshot(bits, newer, tick):
    step = bits.bits(3) + 1 if bits.bits(1) else 0
    if step == 8:
        snapshot = _age(bits, tick, MAX_SIGHT_TICKS, 1)
        require((snapshot is None) != (newer is None) or snapshot is not None and not 0 <= newer - snapshot <= 7,
                "a snapshot in the long form (D-46)")
        return snapshot
    require(newer is not None or step == 0, "a snapshot against none (D-46)")
    return None if newer is None else _moment(newer - step, tick, MAX_SIGHT_TICKS, 1)


def read_inputs(layout, body):
    """Returns the lead and {tick: (contents, view in 256ths of a tick or None, snapshot tick or None)}."""
    bits = Bits(body)
    newest, count, lead = bits.scalar(32), bits.scalar(8), bits.scalar(8)
    require(1 <= count <= 32 and newest >= count, "input window (D-19)")
    view = _age(bits, newest, MAX_SIGHT_TICKS, 256)
    snapshot = _age(bits, newest, MAX_SIGHT_TICKS, 1)
    state = layout.read_whole(bits)
    inputs = {newest: (state, view, snapshot)}
    for tick in range(newest - 1, newest - count, -1):
        if bits.bits(1):
            older = layout.read_delta(bits, state)
            require(older != state, "an input marked as changed that does not differ (D-19)")
            state = older
        view = _older_view(bits, view, tick)
        snapshot = _older_snapshot(bits, snapshot, tick)
        inputs[tick] = (state, view, snapshot)
    bits.end()
    return lead, inputs


def read_rpc(schema, objects, message, from_client):
    bits = Bits(message.body)
    network_id, rpc_id, _tick, target = bits.varint(), bits.varint(), bits.scalar(32), bits.bits(2)
    require(network_id != 0 and rpc_id < 1 << 16, "RPC ids (D-22)")
    require((target == 0) == from_client, f"target {target} from this side (D-24)")
    peer = bits.varint() if target == 3 else None
    require(network_id in objects, f"an RPC for object {network_id}, which was never sent")
    declared, arguments = schema.rpcs.get((objects[network_id].type_id, rpc_id), (None, None))
    require(declared, f"rpc {rpc_id} is not declared")
    require(declared["channel"] == message.channel, "an RPC on another channel than declared (D-23)")
    require(declared["target"] in (target, 2 if target == 3 else target), "target differs from the declared (D-23)")
    values = arguments.read_whole(bits) if arguments else []
    bits.end()
    return network_id, rpc_id, peer, values
