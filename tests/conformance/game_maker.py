"""Makes parts of snapshots, inputs and RPCs of a schema at random: the decoder's own reading of dice, thrown again where
what they say is malformed. So every form of a member occurs, without a second writer of all of them."""

import random
import types

import pcapng
from blocks import DELTA, FULL, PIECE_BYTES, PIECES, REMOVED, RESTED, read_part
from capture import ADDRESSES
from client_connection import frame, u
from dissector_forms import ACK, NOTHING_RECEIVED, packet
from packets import BUILT_IN_CHANNELS, PAYLOAD, RPC, SNAPSHOT, Malformed, require
from session import PEER
from snapshot_writer import BitWriter
from state import Bits, Head, Layout, read_inputs, read_rpc

THROWS = 4000
FIRST_TICK, PARTS = 100, 40


class Dice(Bits):
    """Reads bits at random, and keeps them."""

    def __init__(self, rng):
        super().__init__(b"")
        self.rng, self.text = rng, ""

    def bits(self, n):
        value = self.rng.getrandbits(n) if n else 0
        if n == 8 and self.rng.random() < 0.9:
            value &= 0x7F  # short varints, and letters
        self.put(value, n)
        return value

    def put(self, value, n):
        self.text += format(value, f"0{n}b") if n else ""

    def throw(self, read):
        """Reads until what comes is not malformed."""
        for _ in range(THROWS):
            mark = len(self.text)
            try:
                return read()
            except Malformed as error:
                self.text, last = self.text[:mark], error
        raise last


def _again(method):
    def read(self, bits, member, *rest):
        if not isinstance(bits, Dice):
            return method(self, bits, member, *rest)
        state, before = rest[-1], list(rest[-1])

        def once():
            state[:] = before
            return method(self, bits, member, *rest)
        return bits.throw(once)
    return read


for _name in ("_read_head", "_read_whole", "_read_changes"):
    setattr(Layout, _name, _again(getattr(Layout, _name)))


def _component_again(read):
    return lambda bits, base: bits.throw(lambda: read(bits, base)) if isinstance(bits, Dice) else read(bits, base)


class Reader:
    """The world that parts are read with: all that was sent has come."""

    def __init__(self, schema):
        self.schema, self.tick, self.session_tick, self.slot_bound = schema, 0, None, 65536
        self.states, self.objects, self.slots, self.longs = {}, {}, {}, {}

    def baseline(self, slot, _tick, base):
        require((slot, base) in self.states, "no such state")
        return self.slots[slot], self.states[slot, base]

    def check_full(self, slot, tick, network_id, type_id):
        pass

    def check_removed(self, slot, network_id):
        pass

    def promise(self, holds, text):
        require(holds, text)

    def whole(self, entry):
        long = self.longs.setdefault((entry.slot, entry.tick), {})
        for i in range(entry.pieces):
            long[entry.first + i] = entry.data[i * PIECE_BYTES:][:PIECE_BYTES]
        total = -(-entry.length // PIECE_BYTES)
        return b"".join(long[i] for i in range(total)) if len(long) == total else None

    def read(self, body):
        part = read_part(body, self)
        for entry in part.entries:
            entry = entry.whole or entry
            if entry.kind == FULL:
                self.slots[entry.slot] = entry.type_id
                self.objects[entry.network_id] = types.SimpleNamespace(type_id=entry.type_id)
            if entry.state is not None:
                self.states[entry.slot, entry.tick] = entry.state


class Made:
    """A datagram with one message, and how the decoder reads it."""

    def __init__(self, sender, head, body, read, number):
        self.sender, self.head, self.body, self.number = sender, head, body, number
        self._read = read
        self.record = self.record_of(body)

    def record_of(self, body):
        _, _, opened = packet(self.sender, PAYLOAD, self.head(body), self.number)
        return pcapng.Record(0, ADDRESSES[self.sender], ADDRESSES[PEER[self.sender]], pcapng.OPENED, b"".join(opened))

    def read(self, reader, body=None):
        self._read(reader, self.body if body is None else body)


class Game:
    def __init__(self, schema, seed):
        self.schema, self.rng, self.number = schema, random.Random(seed), 0
        for layout in self.layouts():
            for component in layout.components:
                if not isinstance(component, Head):
                    component.read = _component_again(component.read)
        self.states = {}  # slot -> {tick: contents}
        self.slots = {}  # slot -> type_id

    def layouts(self):
        arguments = [layout for _, layout in self.schema.rpcs.values() if layout]
        return [*self.schema.types.values(), *arguments, self.schema.input]

    def reader(self):
        return Reader(self.schema)

    def datagrams(self):
        made = [self._snapshot(FIRST_TICK, [self._full(FIRST_TICK, self._new_slots())])]
        for tick in range(FIRST_TICK + 1, FIRST_TICK + PARTS):
            made += [self._snapshot(tick, self._blocks(tick)), *self._calls(tick)]
        return made + self._in_pieces(FIRST_TICK + PARTS)

    def damaged(self, made):
        """[(record, whether the decoder finds that its body ends too early)], behind the full entries."""
        found, reader = [(made[0].record, False)], self.reader()
        made[0].read(reader)
        for each in made[1:40]:
            for _ in range(12):
                body = each.body[:self.rng.randrange(4, len(each.body))]
                found.append((each.record_of(body), self._is_malformed(each, body, made)))
                at = self.rng.randrange(len(each.body))
                body = each.body[:at] + bytes([each.body[at] ^ 1 << self.rng.randrange(8)]) + each.body[at + 1:]
                found.append((each.record_of(body), False))
        return found

    def _is_malformed(self, each, body, made):
        reader = self.reader()
        for before in made:
            if before is each:
                break
            before.read(reader)
        try:
            each.read(reader, body)
        except Malformed:
            return True
        return False

    # ---- Snapshots --------------------------------------------------------------------------------

    def _new_slots(self):
        slot = 0
        for type_id in self.schema.types:
            for _ in range(2):
                self.slots[slot], self.states[slot] = type_id, {}
                slot += self.rng.choice((1, 1, 2, 60))
        return sorted(self.slots)

    def _snapshot(self, tick, blocks):
        body = u(tick, 4) + bytes([0x20 if tick % 7 == 0 else 0]) + b"".join(blocks)
        self.number += 1
        return Made("server", lambda body, n=self.number: NOTHING_RECEIVED + frame(1, SNAPSHOT, body, u(n, 2)), body,
                    Reader.read, self.number)

    def _begin(self, kind, k, slots, age=None, mixed=0):
        dice = Dice(self.rng)
        dice.put(kind << 5 | mixed << 4 | k, 8)
        head = BitWriter()
        head.varint(len(slots))
        if age is not None:
            head.varint(age)
        head.varint(slots[0])
        dice.text += head.text
        return dice

    def _gap(self, dice, k, slots, i):
        if i == 0:
            return
        gap, w = slots[i] - slots[i - 1] - 1, BitWriter()
        if gap >> k < 12:
            w.text = "1" * (gap >> k) + "0"
            w.bits(gap & ((1 << k) - 1), k)
        else:
            w.text = "1" * 12
            w.varint(gap)
        dice.text += w.text

    def _bytes(self, dice):
        w = BitWriter()
        w.text = dice.text
        return w.bytes()

    def _changes(self, dice, layout, base, run, everything=False):
        """`run` is (layout, mask) of the entry before."""
        if not layout.has_mask:
            return dice.throw(lambda: layout.read_delta(dice, base)), None
        previous = run[1] if run[0] is layout else None
        mask = tuple(tuple(1 for _ in members) for members in layout.behaviours)
        if previous:
            same = self.rng.random() < 0.3
            dice.put(int(same), 1)
            if same:
                return dice.throw(lambda: layout.read_marked(dice, previous, base)), previous
        if everything and mask != previous:
            dice.text += ("1" * len(mask) if len(mask) > 1 else "") + "".join("1" * len(marks) for marks in mask)
        else:
            def other():
                found = layout.read_mask(dice)
                require(found != previous, "the same mask")
                return found
            mask = dice.throw(other)
        return dice.throw(lambda: layout.read_marked(dice, mask, base)), mask

    def _full(self, tick, slots):
        dice, run, before = self._begin(FULL, 3, slots), (None, None), None
        for i, slot in enumerate(slots):
            self._gap(dice, 3, slots, i)
            type_id = self.slots[slot]
            if i and type_id == before:
                dice.put(1, 1)
            else:
                dice.put(0, 1 if i else 0)
                head = BitWriter()
                head.varint(type_id)
                head.varint(0)
                head.bits(0, 2)
                head.varint(tick)
                dice.text += head.text
            name = BitWriter()
            name.varint(slot + 1000)
            dice.text += name.text
            layout, before = self.schema.types[type_id], type_id
            self.states[slot][tick], mask = self._changes(dice, layout, layout.zero, run, i % 2 == 0)
            run = layout, mask
        return self._bytes(dice)

    def _blocks(self, tick):
        slots = sorted(self.rng.sample(sorted(self.slots), self.rng.randrange(1, len(self.slots) + 1)))
        age, run = self.rng.randrange(1, 20), (None, None)
        dice = self._begin(DELTA, 2, slots, age, 1)
        for i, slot in enumerate(slots):
            self._gap(dice, 2, slots, i)
            base = self.rng.choice(sorted(self.states[slot])[-20:])
            dice.put(int(tick - base != age), 1)
            if tick - base != age:
                own = BitWriter()
                own.varint(tick - base)
                dice.text += own.text
            layout = self.schema.types[self.slots[slot]]
            state, mask = self._changes(dice, layout, self.states[slot][base], run)
            self.states[slot][tick], run = state, (layout, mask)
        rested = self._begin(RESTED, 0, [900], 1)
        removed = self._begin(REMOVED, 0, [901])
        removed.put(0b100, 3)
        return [self._bytes(dice), self._bytes(rested), self._bytes(removed)]

    def _in_pieces(self, tick):
        slot = max(self.slots) + 5
        self.slots[slot], self.states[slot] = next(iter(self.schema.types)), {}
        whole = self._full(tick, [slot])
        made = []
        for first in range(-(-len(whole) // PIECE_BYTES)):
            w = BitWriter()
            w.bits(PIECES << 5, 8)
            for value in (1, slot, first, len(whole), first, 1):
                w.varint(value)
            made.append(self._snapshot(tick + first, [w.bytes() + whole[first * PIECE_BYTES:][:PIECE_BYTES]]))
        return made

    # ---- Inputs and RPCs --------------------------------------------------------------------------

    def _calls(self, tick):
        made = [self._inputs(tick)]
        for (type_id, rpc_id), (rpc, arguments) in self.schema.rpcs.items():
            made.append(self._rpc(tick, type_id, rpc_id, rpc, arguments))
        return made

    def _inputs(self, tick):
        layout, dice = self.schema.input, Dice(self.rng)
        state = dice.throw(lambda: layout.read_whole(dice))
        count = 3
        for i in range(1, count):
            dice.put(i % 2, 1)
            if i % 2:
                def differs(state=state):
                    older = layout.read_delta(dice, state)
                    require(older != state, "no change")
                    return older
                state = dice.throw(differs)
            dice.put(0b01, 2)  # the view: 256 parts before that of the newer, and this less 16 after
            dice.put(16 + i, 5)
            dice.put(0b1001, 4)  # the snapshot: two ticks before
        head = u(tick, 4) + bytes([count, 8]) + b"\xac\x02" + b"\x07"  # seen a tick and more before; six ticks before
        self.number += 1
        return Made("client", lambda body, n=self.number: NOTHING_RECEIVED + frame(1, SNAPSHOT, body, u(n, 2)),
                    head + self._bytes(dice), lambda reader, body: read_inputs(reader.schema.input, body), self.number)

    def _rpc(self, tick, type_id, rpc_id, rpc, arguments):
        dice, w = Dice(self.rng), BitWriter()
        slot = next(each for each, its in self.slots.items() if its == type_id)
        w.varint(slot + 1000)
        w.varint(rpc_id)
        w.scalar(tick, 32)
        w.bits(rpc["target"], 2)
        if rpc["target"] == 3:
            w.varint(2)
        dice.text = w.text
        if arguments:
            dice.throw(lambda: arguments.read_whole(dice))
        mode, sender = BUILT_IN_CHANNELS[rpc["channel"]], "client" if rpc["target"] == 0 else "server"
        self.number += 1

        def head(body, n=self.number):
            if mode.startswith("reliable"):
                return frame(rpc["channel"], RPC, body, u(n, 2), ACK)
            return NOTHING_RECEIVED + frame(rpc["channel"], RPC, body, u(n, 2) if mode.endswith("sequenced") else b"")

        def read(reader, body):
            message = types.SimpleNamespace(body=body, channel=rpc["channel"])
            read_rpc(reader.schema, reader.objects, message, sender == "client")
        return Made(sender, head, self._bytes(dice), read, self.number)


