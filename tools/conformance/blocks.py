"""The bytes of a snapshot part: header, blocks and entries (docs/spec/data.md, "Blocks" and "Changes").

Reading a part changes nothing. What the objects are, and which states may be baselines, is asked of a `world`:

    world.tick, world.slot_bound, world.schema
    world.baseline(slot, tick, base)        the (type_id, contents) that a delta begins with; may raise Forgotten.
                                            base == tick: the state in which the object was placed (D-51)
    world.check_full(slot, tick, network_id, type_id), world.check_removed(slot, network_id)
    world.whole(entry)                      the bytes of the state that these pieces complete, or None (D-55)
    world.promise(holds, text)              a rule that binds the authority and that a client does not check
"""

from packets import Malformed, require
from state import Bits

DELTA, FULL, REMOVED, RESTED, PIECES = range(5)
HAS_INPUT, CONFIRMS_OWN, KEEP, UNCHANGED, PROGRESS = 0x80, 0x40, 0x20, 0x10, 0x08
LARGEST_LEAP_TICKS = 1 << 24  # D-18
LARGEST_AGE_TICKS = 1 << 20  # D-15
LARGEST_SLOT = (1 << 32) - 2  # D-18
LARGEST_RPC_COUNT = (1 << 32) - 1
PIECE_BYTES, LARGEST_LENGTH = 64, 65536  # of a state in pieces (D-55)
ESCAPE = 12  # ones in front of a gap that is written as a varint (D-14)


class Forgotten(Exception):
    """A part that is older than the newest names a baseline that is no longer there (D-27)."""


def ahead(a, b):
    """How many ticks `a` is after `b`: a signed 32-bit difference."""
    return ((a - b + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def before(tick, age):
    return (tick - age) & 0xFFFFFFFF


class Entry:
    """One entry. Fields that its kind does not have are None."""

    def __init__(self, kind, slot, tick):
        self.kind, self.slot, self.tick = kind, slot, tick
        self.base = None  # tick of the state that a delta or rested entry names
        self.network_id = self.type_id = self.info = self.state = None  # info: (owner, mode, authority_tick)
        self.left, self.rpc_count = None, 0
        self.length = self.first = self.pieces = self.data = self.whole = None  # of pieces; whole: the entry that they make


class Part:
    def __init__(self, tick, flags):
        self.tick, self.keep, self.confirms_own = tick, bool(flags & KEEP), bool(flags & CONFIRMS_OWN)
        self.input_age = self.input_margin = None
        self.interval = None  # of a part with unchanged (D-44)
        self.progress = None  # (objects, missing) of a part with progress (D-48)
        self.entries = []


def read_part(body, world):
    bits = Bits(body)
    part = _read_header(bits, world)
    slots, names = set(), set()
    while bits.left():
        for entry in _Block(bits, part.tick, world).read():
            require(entry.slot not in slots, f"two entries of slot {entry.slot} in one part")
            slots.add(entry.slot)
            if entry.kind == FULL:
                require(entry.network_id not in names, f"two slots of object {entry.network_id} (D-18)")
                names.add(entry.network_id)
            part.entries.append(entry)
    return part


def _read_header(bits, world):
    tick, flags = bits.scalar(32), bits.scalar(8)
    require(tick != 0, "server_tick 0 (D-18)")
    if world.tick:
        require(ahead(tick, world.tick) <= LARGEST_LEAP_TICKS, f"tick {tick} is too far ahead (D-18)")
    elif world.session_tick is not None:
        since = ahead(tick, world.session_tick)
        require(0 <= since <= LARGEST_LEAP_TICKS, f"the first tick {tick} is far off (D-18)")
    require(flags & ~(HAS_INPUT | CONFIRMS_OWN | KEEP | UNCHANGED | PROGRESS) == 0, f"flags {flags:#x} (D-18)")
    require(flags == PROGRESS or not flags & PROGRESS, "progress with another flag (D-48)")
    part = Part(tick, flags)
    if flags & HAS_INPUT:
        part.input_age = bits.varint(32)
        margin = bits.scalar(8)
        part.input_margin = margin - 256 if margin > 127 else margin
    if flags & UNCHANGED:
        part.interval = bits.varint(32)
        require(part.interval, "an interval of 0 (D-18)")
        require(not bits.left(), "a block behind unchanged (D-18)")
    if flags & PROGRESS:
        part.progress = bits.varint(32), bits.varint(32)
        require(part.progress[1] <= part.progress[0], "more objects missing than there were (D-48)")
        require(not bits.left(), "a block behind progress (D-48)")
    return part


class _Block:
    def __init__(self, bits, tick, world):
        self.bits, self.tick, self.world = bits, tick, world
        self.kind, self.mixed, self.k = bits.bits(3), bits.bits(1), bits.bits(4)
        require(self.kind <= PIECES, f"kind {self.kind} (D-18)")
        has_age = self.kind in (DELTA, RESTED)
        require(has_age or not self.mixed, f"mixed in a block of kind {self.kind} (D-18)")
        self.count = bits.varint()
        require(self.count, "a block of no entries (D-18)")
        self.age = self._age() if has_age else None
        self.slot = bits.varint(32)
        self.head = None  # (type_id, info) of the previous full entry
        self.type_id = self.mask = None  # of the previous entry with changes

    def read(self):
        if self.kind == PIECES:
            return [self._pieces()]
        content = (self._delta, self._full, self._removed, self._rested)[self.kind]
        entries = []
        for i in range(self.count):
            if i:
                self.slot += 1 + self._gap()
            require(self.slot <= LARGEST_SLOT and self.slot < self.world.slot_bound, f"slot {self.slot} (D-18)")
            entry = Entry(self.kind, self.slot, self.tick)
            try:
                if self.age is not None:
                    age = self._age() if self.mixed and self.bits.bits(1) else self.age
                    entry.base = before(self.tick, age)
                content(entry)
            except Malformed as error:
                raise Malformed(f"slot {self.slot} at tick {self.tick}: {error}") from error
            entries.append(entry)
        self.bits.pad()
        return entries

    def _pieces(self):
        require(self.count == 1 and self.k == 0, "a block of pieces with more than one entry, or with gaps (D-59)")
        require(self.slot <= LARGEST_SLOT and self.slot < self.world.slot_bound, f"slot {self.slot} (D-18)")
        age, length, first, pieces = (self.bits.varint(32) for _ in range(4))
        entry = Entry(PIECES, self.slot, before(self.tick, age))
        require(age <= LARGEST_AGE_TICKS and entry.tick, f"age {age} of a state in pieces (D-59)")
        require(1 <= length <= LARGEST_LENGTH, f"a state of {length} bytes in pieces (D-59)")
        total = -(-length // PIECE_BYTES)
        require(pieces and first < total and pieces <= total - first, f"pieces {first} + {pieces} of {total} (D-59)")
        entry.length, entry.first, entry.pieces = length, first, pieces
        entry.data = self.bits.bytes(min(pieces * PIECE_BYTES, length - first * PIECE_BYTES))
        whole = self.world.whole(entry)
        if whole is not None:
            entry.whole = self._whole(entry, whole)
        return entry

    def _whole(self, pieces, data):
        """The entry that pieces make together (D-55)."""
        bits = Bits(data)
        require(data[0] >> 5 in (DELTA, FULL), "pieces of no state (D-59)")
        try:
            entries = _Block(bits, pieces.tick, self.world).read()
        except Forgotten as error:
            raise Malformed(f"slot {self.slot}: pieces of a delta without its baseline (D-59)") from error
        right = len(entries) == 1 and entries[0].slot == self.slot and not bits.left()
        require(right, "pieces that are not one entry of their slot (D-59)")
        return entries[0]

    def _age(self):
        age = self.bits.varint(32)
        require(self.kind == DELTA or age, "age 0 (D-18)")
        require(age <= LARGEST_AGE_TICKS, f"age {age} (D-18)")
        return age

    def _gap(self):
        quotient = 0
        while quotient < ESCAPE and self.bits.bits(1):
            quotient += 1
        if quotient < ESCAPE:
            return (quotient << self.k) + self.bits.bits(self.k)
        gap = self.bits.varint(32)
        self.world.promise(gap >> self.k >= ESCAPE, f"a gap of {gap} in the long form (D-14)")
        return gap

    def _delta(self, entry):
        type_id, base = self.world.baseline(entry.slot, self.tick, entry.base)
        entry.state = self._changes(type_id, base)

    def _full(self, entry):
        if not (self.head and self.bits.bits(1)):
            type_id, owner, mode = self.bits.varint(32), self.bits.varint(), self.bits.bits(2)
            require(type_id in self.world.schema.types, f"type_id {type_id} (D-18)")
            require(mode <= 1, f"mode {mode} (D-18)")
            self.head = type_id, (owner, mode, before(self.tick, self.bits.varint(32)))
        entry.type_id, entry.info = self.head
        entry.network_id = self._network_id()
        self.world.check_full(entry.slot, self.tick, entry.network_id, entry.type_id)
        entry.state = self._changes(entry.type_id, self.world.schema.types[entry.type_id].zero)

    def _removed(self, entry):
        entry.left = self.bits.bits(1)
        if self.bits.bits(1):
            entry.network_id = self._network_id()
        self.world.check_removed(entry.slot, entry.network_id)
        if self.bits.bits(1):
            entry.rpc_count = self.bits.varint(32)
            require(1 <= entry.rpc_count <= LARGEST_RPC_COUNT, "an rpc_count of 0 (D-18)")

    def _rested(self, entry):
        pass

    def _network_id(self):
        network_id = self.bits.varint()
        require(network_id, "a network_id of 0 (D-18)")
        return network_id

    def _changes(self, type_id, base):
        """The state that changes make of `base` (D-43)."""
        layout = self.world.schema.types[type_id]
        previous = self.mask if type_id == self.type_id else None
        self.type_id, self.mask = type_id, None
        if not layout.has_mask:
            return layout.read_delta(self.bits, base)
        if previous and self.bits.bits(1):
            self.mask = previous
        else:
            self.mask = layout.read_mask(self.bits)
            self.world.promise(self.mask != previous, "the mask of the previous entry, written again (D-43)")
        return layout.read_marked(self.bits, self.mask, base)
