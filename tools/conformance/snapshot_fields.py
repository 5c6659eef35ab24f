"""The fields of a snapshot part as tools/wireshark/lattice.lua shows them (see fields.py), read from
docs/spec/data.md independently of the dissector and of the decoder.

Changes have no length, and to read them takes the schema and all states before. So the first block with changes ends
what can be shown: the rest of the body is bytes."""

from packets import read_varint, require

DELTA, FULL, REMOVED, RESTED, PIECES = range(5)
FLAGS = [("has_input", 0x80), ("confirms_own", 0x40), ("keep", 0x20), ("unchanged", 0x10),
         ("progress", 0x08)]


class _Bits:
    def __init__(self, data, at_byte):
        self.data, self.at = data, 8 * at_byte

    def take(self, n):
        require(self.at + n <= 8 * len(self.data), "a block is cut short")
        value = int.from_bytes(self.data, "big") >> (8 * len(self.data) - self.at - n) & ((1 << n) - 1)
        self.at += n
        return value

    def varint(self, least=0, most=(1 << 64) - 1):
        value = read_varint(lambda: self.take(8))
        require(least <= value <= most, f"varint {value}")
        return value

    def age(self, kind):
        return self.varint(0 if kind == DELTA else 1, 1 << 20)


def snapshot(r):
    """`r` is a Reader of fields.py at the beginning of the body."""
    r.prefix = "snapshot."
    require(r.take("server_tick", 4, "d") != 0, "server_tick 0")
    flags = r.take("flags", 1, "x")
    r.flags(FLAGS, flags)
    require(flags & 0x07 == 0, "reserved flags")
    require(flags == 0x08 or not flags & 0x08, "progress with another flag")
    if flags & 0x80:
        bits = _Bits(r.cursor.data, r.cursor.at)
        r.add("input_age", bits.varint(most=(1 << 32) - 1))
        margin = bits.take(8)
        r.add("input_margin", margin - 256 if margin > 127 else margin)
        r.cursor.at = bits.at // 8
    if flags & 0x10:
        bits = _Bits(r.cursor.data, r.cursor.at)
        r.add("interval", bits.varint(1, (1 << 32) - 1))
        r.cursor.at = bits.at // 8
        require(not r.cursor.left(), "a block behind unchanged")
    if flags & 0x08:
        bits = _Bits(r.cursor.data, r.cursor.at)
        objects = bits.varint(most=(1 << 32) - 1)
        r.add("join_objects", objects)
        r.add("join_missing", bits.varint(most=objects))
        r.cursor.at = bits.at // 8
        require(not r.cursor.left(), "a block behind progress")
    while r.cursor.left():
        _block(r)


def _block(r):
    bits = _Bits(r.cursor.data, r.cursor.at)
    kind, mixed, k = bits.take(3), bits.take(1), bits.take(4)
    for name, value in (("kind", kind), ("mixed", mixed), ("k", k)):
        r.add("block." + name, value)
    require(kind <= PIECES and (kind in (DELTA, RESTED) or not mixed), "kind of a block")
    count = bits.varint(1)
    r.add("block.count", count)
    if kind in (DELTA, RESTED):
        r.add("block.age", bits.age(kind))
    slot = bits.varint(0, (1 << 32) - 2)
    if kind == PIECES:
        require(count == 1 and k == 0, "a block of pieces")
        r.add("entry.slot", slot)
        return _pieces(r, bits)
    for i in range(count):
        if i:
            slot += 1 + _gap(bits, k)
            require(slot <= (1 << 32) - 2, "slot")
        r.add("entry.slot", slot)
        if mixed and bits.take(1):
            r.add("entry.age", bits.age(kind))
        if kind == FULL:
            _head(r, bits)
        if kind in (DELTA, FULL):
            r.cursor.at = bits.at // 8
            require(r.cursor.left(), "changes are cut short")
            r.rest("changes")
            return
        if kind == REMOVED:
            _removed(r, bits)
    require(bits.take(-bits.at % 8) == 0, "padding")
    r.cursor.at = bits.at // 8


def _pieces(r, bits):
    r.add("pieces.age", bits.varint(0, 1 << 20))
    length = bits.varint(1, 65536)
    r.add("pieces.length", length)
    total = -(-length // 64)
    first = bits.varint(0, total - 1)
    r.add("pieces.first", first)
    count = bits.varint(1, total - first)
    r.add("pieces.count", count)
    r.cursor.at = bits.at // 8
    r.take("pieces.bytes", min(64 * count, length - 64 * first), "b")


def _gap(bits, k):
    ones = 0
    while ones < 12 and bits.take(1):
        ones += 1
    return bits.varint(0, (1 << 32) - 1) if ones == 12 else (ones << k) + bits.take(k)


def _head(r, bits):
    r.add("entry.type_id", bits.varint(0, (1 << 32) - 1))
    r.add("entry.owner", bits.varint())
    mode = bits.take(2)
    r.add("entry.mode", mode)
    require(mode <= 1, "mode")
    r.add("entry.tenure", bits.varint(0, (1 << 32) - 1))
    r.add("entry.network_id", bits.varint(1))


def _removed(r, bits):
    r.add("entry.left", bits.take(1))
    if bits.take(1):
        r.add("entry.network_id", bits.varint(1))
    if bits.take(1):
        r.add("entry.rpc_count", bits.varint(1, (1 << 32) - 1))
