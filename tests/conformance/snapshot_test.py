#!/usr/bin/env python3
"""The decoder of snapshots against bytes made by hand and by a small encoder: snapshot_test.py

Every state survives; every rule that docs/spec/data.md gives for a malformed part, at its limit and one past it; every
truncation; what a client does with parts that are late; and an honest authority is never refused."""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "conformance"))

import packets  # noqa: E402  (found through the path above)
from blocks import DELTA, FULL, PIECES, REMOVED, RESTED  # noqa: E402
from client_world import ReceivedWorld  # noqa: E402
from packets import Malformed  # noqa: E402
from snapshot_authority import Authority  # noqa: E402
from snapshot_writer import BitWriter, block, delta, full, gap, part, pieces, progress_part, removed, rested  # noqa: E402
from snapshots import Snapshots  # noqa: E402
from state import Schema  # noqa: E402


def member(name, kind, **more):
    return {"name": name, "type": kind, "encoding": "default", "flags": 0, "bits": 0, **more}


def behaviours(*members):
    return [{"name": f"B{i}", "structure": {"name": f"S{i}", "delta": False, "members": each}}
            for i, each in enumerate(members)]


INNER = {"name": "Inner", "delta": True, "members": [member("p", "bool"), member("q", "int32")]}
LAMP, BODY, WIDE = 7, 9, 500
TYPES = {
    LAMP: behaviours([member("lit", "bool"), member("level", "uint8", encoding="bits", bits=4)]),
    BODY: behaviours([member("x", "int32"), member("in", "struct", structure=INNER)],
                     [member("name", "string", capacity=12), member("on", "bool"), member("row", "uint8", array=3)]),
    WIDE: behaviours(*[[member(f"m{i}", "uint8") for i in range(32)] for _ in range(2)]),  # 66 bits: no mask (D-43)
}
SCHEMA = Schema({"input": None, "types": [{"type_id": n, "name": f"T{n}", "behaviours": each, "rpcs": []}
                                          for n, each in TYPES.items()]}, packets.BUILT_IN_CHANNELS)
HEAD = (LAMP, 0, 0, 0)


def state_of(source, type_id):
    """A state whose members are often those of the zero baseline."""
    made = []
    for component in SCHEMA.types[type_id].components:
        if source.random() < 0.5:
            made.append(component.zero)
        elif component.text.startswith(" capacity"):
            made.append(("x", bytes(source.choices(b"abc", k=source.randrange(12)))))
        else:
            width = {"": 1, " bits 4": 4, " fixed 8": 8, " varint 32": 32}[component.text]
            made.append(source.getrandbits(width))
    return made


def changed(source, type_id, state):
    fresh = state_of(source, type_id)
    return [new if source.random() < 0.2 else old for old, new in zip(state, fresh)]


def client(*bodies, acknowledges=True, session_tick=None):
    """A client that has received these parts."""
    world = ReceivedWorld(SCHEMA)
    world.session_tick = session_tick
    for number, body in enumerate(bodies):
        assert world.on_part(body, number)
        if acknowledges:
            world.on_acknowledging([number])
    return world


def lamp(tick, lit=1, slot=2, network_id=3):
    return part(tick, block(SCHEMA, FULL, [full(slot, network_id, HEAD, [lit, 5])]))


def lamp_delta(tick, age, level=None, keep=False):
    """Changes the level, of which the baseline has another."""
    level = tick % 9 + 6 if level is None else level
    return part(tick, block(SCHEMA, DELTA, [delta(2, age, LAMP, [1, 5], [1, level])]), keep=keep)


class Coding(unittest.TestCase):
    def test_hand_made_bytes(self):
        """Two lamps with one head and one mask, then a delta of each with an age of its own."""
        world = client()
        #                 full, k 1    two entries, slot 4
        bits = "001 0 0001" "00000010" "00000100"
        #       type 7     owner 9    mode  tenure 2   network_id 3  mask  level
        bits += "00000111" "00001001" "01" "00000010" "00000011" "01" "1111"
        #        gap of 3   same head  network_id 4   same mask  level
        bits += "10 1"     "1"         "00000100"     "1"        "0001" "0000"  # and padding
        # delta, mixed, k 0; two entries, age 5, slot 4; not other, mask; gap of 3, other, age 6, not same, mask, level
        second = "000 1 0000" "00000010" "00000101" "00000100" "0" "10" "1110" "1" "00000110" "0" "11" "0011" "0"
        first = bytes.fromhex("0a00000080") + b"\x03\xfe" + self.packed(bits)
        self.assertTrue(world.on_part(first, 1))
        self.assertEqual(world.objects[4].info, (9, 1, 8))
        self.assertEqual([world.newest(3), world.newest(4)], [(10, [0, 15]), (10, [0, 1])])
        world.on_part(part(9, block(SCHEMA, FULL, [full(8, 4, (LAMP, 9, 1, 1), [1, 1])])), 2)
        world.on_acknowledging([1, 2])
        self.assertTrue(world.on_part(bytes.fromhex("0f00000000") + self.packed(second), 3))
        self.assertEqual([world.newest(3), world.newest(4)], [(15, [1, 15]), (15, [0, 3])])

    @staticmethod
    def packed(text):
        text = text.replace(" ", "")
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")

    def test_gaps(self):
        for k in range(16):
            for value in (0, 1, (12 << k) - 1, 12 << k, (12 << k) + 1):
                entries = [rested(0, 1), rested(value + 1, 1), rested(value + 2, 1)]
                world = client()
                world.slot_bound = 1 << 32
                self.assertTrue(world.on_part(part(9, block(SCHEMA, RESTED, entries, k)), 1), (k, value))
        w = BitWriter()
        gap(w, 11, 0)
        gap(w, 12, 0)
        gap(w, 5, 2)
        self.assertEqual(w.text, "111111111110" "111111111111" "00001100" "1001")

    def test_states_of_every_type_survive(self):
        source = random.Random(1)
        for _ in range(300):
            slots = sorted(source.sample(range(100), 8))
            heads = [(source.choice(list(TYPES)), source.randrange(3), 1, 4) for _ in slots]
            first = [state_of(source, head[0]) for head in heads]
            second = [changed(source, head[0], state) for head, state in zip(heads, first)]
            fulls = [full(slot, slot + 1, *each) for slot, *each in zip(slots, heads, first)]
            deltas = [delta(slot, 3, head[0], *each) for slot, head, *each in zip(slots, heads, first, second)]
            world = Snapshots(SCHEMA)  # which also asks for the shortest form
            carried = world.read(part(100, block(SCHEMA, FULL, fulls, source.randrange(16))))
            self.assertEqual([world.slots[s].states[100] for s in slots], first)
            self.assertEqual([(world.slots[s].type_id, *world.slots[s].info) for s in slots],
                             [(*head[:3], 96) for head in heads])
            world.on_acked(carried)
            world.read(part(103, block(SCHEMA, DELTA, deltas, source.randrange(16))))
            self.assertEqual([world.slots[s].states[103] for s in slots], second)

    def test_the_shortest_form_is_a_promise_of_the_authority(self):
        long_gap = self.packed("011 0 0000" "00000010" "00000001" "00000010" "111111111111 00000001" "0000")
        again = self.packed("001 0 0000" "00000010" "00000010" "00000111" "00000000" "00" "00000000" "00000011" "00"
                            "0" "1" "00000100" "0" "00" "0")
        for spoilt in (long_gap, again):
            self.assertTrue(client().on_part(part(51, spoilt), 9))
            with self.assertRaises(Malformed):
                Snapshots(SCHEMA).read(part(51, spoilt))


class Refusals(unittest.TestCase):
    """D-18: each rule at its limit, and one past it."""

    def check(self, world, good, bad):
        """`good` and `bad` are blocks at tick 100, or None."""
        self.check_parts(world, good and part(100, good), bad and part(100, bad))

    def check_parts(self, world, good, bad):
        if good:
            self.assertTrue(world().on_part(good, 99))
        if bad:
            one = world()
            before = self.described(one)
            with self.assertRaises(Malformed):
                one.on_part(bad, 99)
            self.assertEqual(self.described(one), before, "a refused part changed something (D-2)")

    @staticmethod
    def described(world):
        return world.tick, {slot: {**vars(thing), "states": dict(thing.states)} for slot, thing in world.slots.items()}

    @staticmethod
    def raw(kind, mixed, count, *rest, k=0):
        w = BitWriter()
        w.bits(kind, 3)
        w.bits(mixed, 1)
        w.bits(k, 4)
        w.varint(count)
        for value, bits in rest:  # bits 0: a varint
            w.bits(value, bits) if bits else w.varint(value)
        return w.bytes()

    def test_the_header(self):
        self.check_parts(client, part(1), part(0))
        self.check_parts(lambda: client(part(1000)), part(1000 + (1 << 24)), part(1001 + (1 << 24)))
        self.check_parts(lambda: client(part((1 << 32) - 5)), part((1 << 24) - 5), part((1 << 24) - 4))
        for since in (1 << 24, 0):
            began = lambda: client(session_tick=(1 << 31) - since)
            self.check_parts(began, part(1 << 31), part((1 << 31) + (1 if since > 0 else -1)))
        for bit in range(3):
            self.check_parts(client, None, bytes.fromhex("e8030000") + bytes([1 << bit]))
        flagged = part(9, inputs=((1 << 32) - 1, -128), keep=True, confirms_own=True)
        self.check_parts(client, flagged, flagged[:-1])
        still = part(9, inputs=(1, 4), interval=3)
        self.check_parts(client, still, still[:-1])
        self.check_parts(client, part(9, interval=(1 << 32) - 1), part(9, interval=0))
        self.check_parts(client, progress_part(9, 10_000, 10_000), progress_part(9, 10_000, 10_001))
        done = progress_part(9, (1 << 32) - 1, 0)
        self.check_parts(client, done, done[:-1])
        self.check_parts(client, None, done + self.raw(REMOVED, 0, 1, (1, 0), (0, 3)))
        self.check_parts(client, None, bytes.fromhex("0900000048 0000"))  # with confirms_own
        self.check_parts(client, None, still + self.raw(REMOVED, 0, 1, (1, 0), (0, 3)))
        self.check_parts(client, None, bytes.fromhex("0900000080") + b"\x80\x80\x80\x80\x10" + b"\x00")  # 2^32

    def test_blocks(self):
        raw = self.raw
        for kind in (4, 5, 6, 7):
            self.check(client, None, raw(kind, 0, 1, (1, 0), (1, 0)))
        self.check(client, raw(REMOVED, 0, 1, (1, 0), (0, 3)), raw(REMOVED, 1, 1, (1, 0), (0, 3)))
        self.check(client, None, raw(FULL, 1, 1, (1, 0), (0, 1), (7, 0), (0, 0), (0, 2), (0, 0), (3, 0), (0, 2)))
        self.check(client, raw(RESTED, 0, 1, (1, 0), (1, 0)), raw(RESTED, 0, 0, (1, 0), (1, 0)))
        self.check(client, raw(RESTED, 0, 1, (1 << 20, 0), (1, 0)), raw(RESTED, 0, 1, ((1 << 20) + 1, 0), (1, 0)))
        self.check(client, None, raw(RESTED, 0, 1, (0, 0), (1, 0)))
        self.check(client, raw(RESTED, 1, 1, (1, 0), (1, 0), (1, 1), (1 << 20, 0)),
                   raw(RESTED, 1, 1, (1, 0), (1, 0), (1, 1), ((1 << 20) + 1, 0)))
        self.check(client, None, raw(RESTED, 1, 1, (1, 0), (1, 0), (1, 1), (0, 0)))
        self.check(client, raw(RESTED, 0, 1, (1, 0), (2097151, 0)), raw(RESTED, 0, 1, (1, 0), (2097152, 0)))
        self.check(client, None, raw(RESTED, 0, 1, (1, 0), ((1 << 32) - 1, 0)))
        self.check(client, None, raw(RESTED, 0, 2, (1, 0), (2097151, 0), (0, 1)))
        self.check(client, None, raw(RESTED, 0, 2, (1, 0), (2, 0), (0xFFF, 12), ((1 << 32) - 1, 0)))
        self.check(client, raw(RESTED, 0, 2, (1, 0), (2, 0), (0, 8)), raw(RESTED, 0, 2, (1, 0), (2, 0), (1, 8)))
        self.check(client, None, raw(RESTED, 0, 1, (1, 0), (1, 0)) + b"\0")
        self.check(client, None, raw(RESTED, 0, 1, (1, 0), (1, 0)) + raw(RESTED, 0, 1, (2, 0), (1, 0)))

    def test_full_entries(self):
        def entry(type_id=LAMP, mode=0, network_id=3, slot=2):
            return self.raw(FULL, 0, 1, (slot, 0), (type_id, 0), (0, 0), (mode, 2), (0, 0), (network_id, 0), (0, 2))
        self.check(client, entry(), entry(type_id=8))
        self.check(client, entry(mode=1), entry(mode=2))
        self.check(client, None, entry(network_id=0))
        known = lambda: client(lamp(90))  # noqa: E731
        self.check(known, entry(), entry(type_id=BODY))
        self.check(known, entry(slot=3, network_id=4), entry(slot=3))
        self.check(known, None, entry(network_id=4))
        gone = lambda: client(lamp(90), part(91, block(SCHEMA, REMOVED, [removed(2)])))  # noqa: E731
        self.check(gone, entry(network_id=4), None)
        twice = [full(1, 3, HEAD, [0, 0]), full(2, 3, HEAD, [0, 0])]
        self.check(client, None, block(SCHEMA, FULL, twice))

    def test_removals(self):
        raw = self.raw
        self.check(client, raw(REMOVED, 0, 1, (1, 0), (1, 3), (1, 0)), raw(REMOVED, 0, 1, (1, 0), (1, 3), (0, 0)))
        limit = (1 << 32) - 1
        self.check(client, raw(REMOVED, 0, 1, (1, 0), (1, 3), (limit, 0)),
                   raw(REMOVED, 0, 1, (1, 0), (1, 3), (limit + 1, 0)))
        self.check(client, raw(REMOVED, 0, 1, (1, 0), (2, 3), (4, 0)), raw(REMOVED, 0, 1, (1, 0), (2, 3), (0, 0)))

    def test_deltas(self):
        known = lambda: client(lamp(90))  # noqa: E731
        self.check(known, block(SCHEMA, DELTA, [delta(2, 10, LAMP, [1, 5], [0, 6])]),
                   block(SCHEMA, DELTA, [delta(3, 10, LAMP, [1, 5], [0, 6])]))
        self.check(known, None, block(SCHEMA, DELTA, [delta(2, 9, LAMP, [1, 5], [0, 6])]))
        self.check(known, block(SCHEMA, DELTA, [delta(2, 10, LAMP, [1, 5], [1, 5])]), None)  # a mask of zeros
        same = self.raw(DELTA, 0, 1, (10, 0), (2, 0), (1, 2), (5, 4))
        self.check(known, None, same)  # D-10
        gone = lambda: client(lamp(90), part(95, block(SCHEMA, REMOVED, [removed(2)])))  # noqa: E731
        self.check(gone, None, block(SCHEMA, DELTA, [delta(2, 10, LAMP, [1, 5], [0, 6])]))
        zeros = full(2, 3, (BODY, 0, 0, 0), SCHEMA.types[BODY].zero)
        body = lambda: client(part(90, block(SCHEMA, FULL, [zeros])))  # noqa: E731
        self.check(body, self.raw(DELTA, 0, 1, (10, 0), (2, 0), (0, 2)), None)
        self.check(body, None, self.raw(DELTA, 0, 1, (10, 0), (2, 0), (1, 2), (0, 3)))  # a behaviour without a member

    def test_a_delta_against_a_state_that_was_never_acknowledged(self):
        world = client(lamp(90), acknowledges=False)
        with self.assertRaises(Malformed):
            world.on_part(lamp_delta(100, 10), 9)

    def test_every_truncation(self):
        source = random.Random(2)
        for _ in range(30):
            slots = [1, 2, 60]
            heads = [(source.choice(list(TYPES)), 300, 1, 4) for _ in slots]
            states = [state_of(source, head[0]) for head in heads]
            blocks = [block(SCHEMA, FULL, [full(s, s, *each) for s, *each in zip(slots, heads, states)], 2),
                      block(SCHEMA, REMOVED, [removed(3, 1, 300, 5), removed(80)]),
                      block(SCHEMA, RESTED, [rested(4, 1), rested(70, 200)])]
            whole, ends = part(100, *blocks, inputs=(400, 3)), set()
            for n in range(len(blocks) + 1):
                ends.add(len(part(100, *blocks[:n], inputs=(400, 3))))
            for n in range(len(whole) + 1):
                if n in ends:  # Each block is complete in itself.
                    self.assertTrue(client().on_part(whole[:n], 1))
                else:
                    with self.assertRaises(Malformed):
                        client().on_part(whole[:n], 1)

    def test_noise_is_decoded_or_refused(self):
        source = random.Random(3)
        refused = 0
        for _ in range(3000):
            world = client(lamp(90), lamp_delta(95, 5))
            body = bytearray(lamp_delta(96, 6) + block(SCHEMA, REMOVED, [removed(9, 1, 300, 7)]))
            for _ in range(source.randrange(1, 4)):
                body[source.randrange(4, len(body))] ^= 1 << source.randrange(8)
            try:
                world.on_part(bytes(body), 9)
            except Malformed:
                refused += 1
        self.assertGreater(refused, 300)


class AtTheClient(unittest.TestCase):
    def test_64_states_are_kept_and_16_of_keep_parts(self):
        def after(count, keeps=0):
            first = part(1000, block(SCHEMA, FULL, [full(2, 3, HEAD, [1, 5])]), keep=bool(keeps))
            later = [lamp_delta(1001 + i, 1 + i, keep=i < keeps) for i in range(count)]
            return client(first, *later)
        self.assertTrue(after(63).on_part(lamp_delta(1200, 200), 999))
        with self.assertRaises(Malformed):
            after(64).on_part(lamp_delta(1200, 200), 999)
        self.assertTrue(after(200, keeps=15).on_part(lamp_delta(1300, 300), 999))

    def test_a_state_of_a_keep_part_stays_when_a_newer_one_was_named(self):
        """An authority goes back to it when it has no other for a client that it did not hear for long (D-15, D-26)."""
        for keep in (True, False):
            first = part(100, block(SCHEMA, FULL, [full(2, 3, HEAD, [1, 5])]), keep=keep)
            world = client(first, lamp_delta(110, 10), lamp_delta(112, 2), part(150), lamp_delta(151, 39))
            if keep:
                self.assertTrue(world.on_part(lamp_delta(190, 90), 999))
            else:
                with self.assertRaises(Malformed):
                    world.on_part(lamp_delta(190, 90), 999)

    def test_states_of_keep_parts_go_after_16(self):
        world = client(part(1000, block(SCHEMA, FULL, [full(2, 3, HEAD, [1, 5])]), keep=True),
                       *[lamp_delta(1001 + i, 1 + i, keep=i < 16) for i in range(63)])
        self.assertTrue(world.on_part(lamp_delta(1064, 64), 998))
        with self.assertRaises(Malformed):
            world.on_part(lamp_delta(1065, 65), 999)

    def test_a_late_part_is_dropped_after_64_ticks(self):
        world = client(lamp(100), part(164))
        self.assertTrue(world.on_part(lamp(100, slot=4, network_id=9), 8))
        self.assertFalse(client(lamp(100), part(165)).on_part(lamp(100, slot=4, network_id=9), 8))

    def test_a_late_part_that_names_a_forgotten_baseline_is_dropped(self):
        """What is older than the newest baseline named goes, 16 ticks later (D-26)."""
        named = [lamp(100), lamp_delta(110, 10), part(111)]
        late = lamp_delta(112, 12)
        world = client(*named, lamp_delta(116, 6))
        self.assertTrue(world.on_part(late, 8), "16 ticks behind the newest")
        world = client(*named, lamp_delta(117, 7), part(118), lamp_delta(119, 2))
        before = Refusals.described(world)
        self.assertFalse(world.on_part(late, 8))
        self.assertEqual(Refusals.described(world), before)
        with self.assertRaises(Malformed):
            world.on_part(lamp_delta(119, 19), 9)

    def test_an_older_entry_is_a_baseline_only(self):
        world = client(lamp(100), lamp_delta(106, 6, level=9))
        world.on_part(part(103, block(SCHEMA, FULL, [full(2, 3, (LAMP, 8, 1, 1), [1, 7])])), 7)
        self.assertEqual(world.newest(3), (106, [1, 9]))
        self.assertEqual(world.objects[3].info, (8, 1, 102), "of the newest full entry")
        world.on_acknowledging([7])
        world.on_part(part(108, block(SCHEMA, DELTA, [delta(2, 5, LAMP, [1, 7], [0, 7])])), 8)
        self.assertEqual(world.newest(3), (108, [0, 7]))

    def test_after_a_removal_earlier_entries_change_nothing(self):
        gone = part(110, block(SCHEMA, REMOVED, [removed(2)]))
        world = client(lamp(100), gone)
        self.assertTrue(world.on_part(lamp_delta(109, 9), 7))
        self.assertTrue(world.on_part(lamp(110), 8))
        self.assertIsNone(world.newest(3))
        world.on_part(lamp(111, lit=0), 9)  # a new stay
        self.assertEqual(world.newest(3), (111, [0, 5]))
        world.on_part(gone, 10)
        self.assertEqual(world.newest(3), (111, [0, 5]), "a removal sent before this stay")

    def test_a_removal_in_front_of_the_first_state(self):
        world = client(part(110, block(SCHEMA, REMOVED, [removed(2, name=3)])))
        self.assertTrue(world.on_part(lamp(109), 7))
        self.assertEqual(world.live(), {})

    def test_a_rested_entry_is_about_the_newest_state(self):
        def after(*bodies):
            return client(lamp(100), *bodies).objects[3].rested
        rest = part(106, block(SCHEMA, RESTED, [rested(2, 6), rested(9, 1)]))
        self.assertEqual(after(rest), [1, 5])
        self.assertEqual(after(lamp_delta(104, 4), rest), [1, 11], "the same state, sent again")
        self.assertIsNone(after(lamp_delta(108, 8), rest), "a state of a later tick is there")
        self.assertIsNone(after(rest, lamp_delta(108, 8)), "a later entry says so")
        self.assertIsNone(after(part(107, block(SCHEMA, RESTED, [rested(2, 6)]))), "of a state that is not there")


class PlacedObjects(unittest.TestCase):
    """Two lamps in the slots 0 and 1 that both sides placed (D-51)."""

    def world(self, of=ReceivedWorld):
        world = of(SCHEMA)
        world.place({9: (LAMP, [0, 3]), 5: (LAMP, [1, 2])})
        return world

    def entry(self, state, base, slot=1, age=0):
        return block(SCHEMA, DELTA, [delta(slot, age, LAMP, base, state)])

    def test_a_change_is_read_from_the_placed_state(self):
        world = self.world()
        self.assertEqual(world.newest(2), (None, [0, 3]))
        world.on_part(part(100, self.entry([1, 3], [0, 3])), 0)
        self.assertEqual(world.newest(2), (100, [1, 3]))
        world.on_part(part(101, self.entry([0, 3], [0, 3])), 1)
        self.assertEqual(world.newest(2), (101, [0, 3]))

    def test_age_0_is_for_placed_objects_and_not_for_rest(self):
        world = self.world()
        world.on_part(lamp(100, slot=2, network_id=3), 0)
        with self.assertRaises(Malformed):
            world.on_part(part(101, self.entry([1, 4], [1, 5], slot=2)), 1)
        with self.assertRaises(Malformed):
            world.on_part(part(101, block(SCHEMA, RESTED, [rested(1, 0)])), 1)

    def test_a_removal_is_not_named_and_the_slot_stays_empty(self):
        world = self.world(Snapshots)
        carried = world.read(part(100, block(SCHEMA, REMOVED, [removed(1)])))
        self.assertEqual(list(world.live()), [1])
        world.on_acked(carried)
        with self.assertRaises(Malformed):
            world.read(lamp(200, slot=1, network_id=3))

    def test_one_that_left_stays_without_what_was_under_way(self):
        """D-52: late entries are of the stay that ended, and a new one begins from the placed state."""
        world = self.world()
        world.on_part(part(101, block(SCHEMA, REMOVED, [removed(1, left=1)])), 0)
        self.assertEqual(world.newest(2), (None, [0, 3]))
        world.on_part(part(100, self.entry([1, 3], [0, 3])), 1)
        self.assertEqual(world.newest(2), (None, [0, 3]))
        world.on_part(part(102, self.entry([1, 5], [0, 3])), 2)
        self.assertEqual(world.newest(2), (102, [1, 5]))


class Pieces(unittest.TestCase):
    """D-54 to D-59."""

    NEW = [i + 1 for i in range(64)]
    WHOLE = block(SCHEMA, FULL, [full(2, 3, (WIDE, 0, 0, 0), NEW)])  # two pieces

    def test_a_state_comes_with_its_last_piece(self):
        self.assertTrue(64 < len(self.WHOLE) <= 128)
        for order in ((0, 1), (1, 0)):
            world = client(part(100, pieces(2, 0, self.WHOLE, order[0], 1)))
            self.assertEqual(world.live(), {})
            world.on_part(part(300, pieces(2, 200, self.WHOLE, order[1], 1)), 2)  # the state may be old
            self.assertEqual(world.newest(3), (100, self.NEW))
            world.on_part(part(300, pieces(2, 200, self.WHOLE, 0, 2)), 3)  # sent again
            self.assertEqual(world.newest(3), (100, self.NEW))

    def test_a_delta_in_pieces_builds_on_an_acknowledged_state(self):
        newer = [i + 2 for i in range(64)]
        whole = block(SCHEMA, DELTA, [delta(2, 5, WIDE, self.NEW, newer)])
        world = client(part(100, pieces(2, 0, self.WHOLE, 0, 2)), part(105, pieces(2, 0, whole, 0, 1)))
        world.on_part(part(110, pieces(2, 5, whole, 1, 1)), 3)
        self.assertEqual(world.newest(3), (105, newer))
        early = client(part(100, pieces(2, 0, self.WHOLE, 0, 2)), acknowledges=False)
        with self.assertRaises(Malformed):
            early.on_part(part(105, pieces(2, 0, whole, 0, 2)), 3)

    def test_a_newer_state_or_a_removal_ends_an_incomplete_one(self):
        begun = part(100, pieces(2, 0, self.WHOLE, 0, 1))
        gone = part(101, block(SCHEMA, REMOVED, [removed(2, name=3)]))
        world = client(begun, gone, part(102, pieces(2, 2, self.WHOLE, 1, 1)))
        self.assertEqual((world.live(), world.longs), ({}, {}))
        other = block(SCHEMA, FULL, [full(2, 3, (WIDE, 0, 0, 0), self.NEW[:-1] + [99])])
        world = client(begun, part(101, pieces(2, 0, other, 1, 1)), part(102, pieces(2, 2, self.WHOLE, 1, 1)))
        self.assertEqual(world.live(), {})
        world.on_part(part(103, pieces(2, 2, other, 0, 1)), 9)
        self.assertEqual(world.newest(3)[0], 101)

    def test_rules(self):
        def raw(age=0, length=700, first=0, count=1, data=64, head=PIECES << 5, entries=1, slot=2):
            w = BitWriter()
            w.bits(head, 8)
            for value in (entries, slot, age, length, first, count):
                w.varint(value)
            return part(1 << 21, w.bytes() + bytes(data))
        for good in (dict(), dict(age=1 << 20), dict(length=65536, first=1023), dict(first=10, data=60)):
            self.assertTrue(client().on_part(raw(**good), 1), good)
        for bad in (dict(age=(1 << 20) + 1), dict(length=0), dict(length=65537), dict(first=11, data=60), dict(count=0),
                    dict(first=10, count=2, data=60), dict(data=63), dict(head=PIECES << 5 | 16), dict(head=PIECES << 5 | 1),
                    dict(entries=0), dict(entries=2), dict(slot=(1 << 32) - 1)):
            with self.assertRaises(Malformed):
                client().on_part(raw(**bad), 1)

    def test_pieces_agree(self):
        begun = part(100, pieces(2, 0, self.WHOLE, 0, 1))
        for bad in (pieces(2, 0, b"?" + self.WHOLE[1:], 0, 1), pieces(2, 0, self.WHOLE + b"?", 1, 1),
                    pieces(2, 0, self.WHOLE, 1, 1) * 2):
            with self.assertRaises(Malformed):
                client(begun).on_part(part(100, bad), 2)

    def test_the_whole_is_one_state_of_the_slot(self):
        one = full(2, 3, HEAD, [1, 5])
        for whole in (block(SCHEMA, REMOVED, [removed(2)]), block(SCHEMA, FULL, [{**one, "slot": 3}]),
                      block(SCHEMA, FULL, [one, {**one, "slot": 5, "network_id": 8}]), b"\x20",
                      block(SCHEMA, FULL, [one]) + b"\0", pieces(2, 0, b"x", 0, 1)):
            with self.assertRaises(Malformed):
                client().on_part(part(100, pieces(2, 0, whole, 0, 1)), 1)

    def test_eight_are_under_way_at_most(self):
        world = client(*[part(100, pieces(slot, 0, bytes(100), 0, 1)) for slot in range(8)])
        self.assertTrue(world.on_part(part(101, pieces(3, 0, bytes(200), 0, 1)), 20))  # takes a place over
        with self.assertRaises(Malformed):
            world.on_part(part(101, pieces(8, 0, bytes(100), 0, 1)), 21)


class Promises(unittest.TestCase):
    """What an authority may not do and a client does not notice."""

    def sent(self, *bodies, acknowledged=True):
        world = Snapshots(SCHEMA)
        for body in bodies:
            carried = world.read(body)
            if acknowledged:
                world.on_acked(carried)
        return world

    def check(self, good, bad, *before, acknowledged=True, **attributes):
        for body, is_good in ((good, True), (bad, False)):
            world = self.sent(*before, acknowledged=acknowledged)
            vars(world).update(attributes)
            if is_good:
                world.read(body)
            else:
                with self.assertRaises(Malformed):
                    world.read(body)

    def test_baselines_only_grow(self):
        before = [lamp(100), lamp_delta(105, 5), lamp_delta(106, 1)]
        self.check(lamp_delta(108, 3), lamp_delta(108, 8), *before)

    def test_but_they_go_back_to_a_state_of_a_keep_part(self):
        before = [part(100, block(SCHEMA, FULL, [full(2, 3, HEAD, [1, 5])]), keep=True),
                  lamp_delta(104, 4), lamp_delta(105, 5), lamp_delta(106, 1)]
        self.check(lamp_delta(108, 8), lamp_delta(108, 4), *before)

    def test_a_slot_rests_for_64_ticks(self):
        gone = part(105, block(SCHEMA, REMOVED, [removed(2)]))
        self.check(lamp(170, network_id=4), lamp(169, network_id=4), lamp(100), gone)
        self.check(lamp(106), lamp(170, network_id=4, slot=3) + block(SCHEMA, RESTED, [rested(2, 5)]), lamp(100), gone)

    def test_a_removal_must_be_acknowledged_first(self):
        world = self.sent(lamp(100))
        carried = world.read(part(105, block(SCHEMA, REMOVED, [removed(2)])))
        with self.assertRaises(Malformed):
            world.read(lamp(106))
        world.on_acked(carried)
        world.read(lamp(107))

    def test_a_removal_is_named_if_no_full_entry_was_acknowledged(self):
        named = part(105, block(SCHEMA, REMOVED, [removed(2, name=3)]))
        self.check(named, part(105, block(SCHEMA, REMOVED, [removed(2)])), lamp(100), acknowledged=False)

    def test_full_entries_until_a_new_owner_is_acknowledged(self):
        owned = part(104, block(SCHEMA, FULL, [full(2, 3, (LAMP, 8, 0, 0), [1, 5])]))
        world = self.sent(lamp(100))
        carried = world.read(owned)
        with self.assertRaises(Malformed):
            world.read(lamp_delta(105, 5))
        world.on_acked(carried)
        world.read(lamp_delta(106, 6))

    def test_confirms_own_leaves_out_only_what_is_acknowledged(self):
        owned = part(100, block(SCHEMA, FULL, [full(2, 3, (LAMP, 8, 0, 0), [1, 5])]))
        confirms = part(105, confirms_own=True)
        self.check(part(105, block(SCHEMA, FULL, [full(2, 3, (LAMP, 8, 0, 5), [1, 5])]), confirms_own=True), confirms,
                   owned, acknowledged=False, own_peer_id=8)
        self.sent(owned).read(confirms)

    def test_rest_is_true(self):
        before = [lamp(100), lamp_delta(105, 5)]
        self.check(part(106, block(SCHEMA, RESTED, [rested(2, 1)])),
                   part(106, block(SCHEMA, RESTED, [rested(2, 6)])), *before)


class HonestAuthority(unittest.TestCase):
    QUIET_TICK, LAST_TICK = 900, 1300

    def test_is_never_refused_and_arrives_whole(self):
        forgotten = 0
        for seed in range(12):
            with self.subTest(seed=seed):
                forgotten += self.play(random.Random(seed), (0, (1 << 32) - 500)[seed % 2]).forgotten_parts
        self.assertGreater(forgotten, 0)

    def play(self, source, tick_offset):
        authority = Authority(SCHEMA, source, lambda t: state_of(source, t), lambda t, s: changed(source, t, s),
                              tick_offset)
        sent, world = Snapshots(SCHEMA), ReceivedWorld(SCHEMA)
        arrivals, acks, carried_by = {}, {}, {}
        for tick in range(1, self.LAST_TICK):
            is_quiet = tick > self.QUIET_TICK
            authority.step(is_quiet)
            for packet, body in authority.send() if tick % 2 else []:
                carried_by[packet] = sent.read(body)
                if is_quiet or source.random() > 0.1:
                    delay = source.choice([1, 2, 3, 8, 20] * 6 + [45, 63, 66, 90])
                    arrivals.setdefault(tick + delay, []).append((packet, body))
            for packet, body in arrivals.pop(tick, []):
                if world.on_part(body, packet):
                    self.check_states(authority, world.carried[packet])
                    world.on_acknowledging([packet])
                    acks.setdefault(tick + source.choice([1, 2, 5, 25, 40]), []).append(packet)
            for packet in acks.pop(tick, []):
                sent.on_acked(carried_by[packet])
                authority.on_acked(packet)
        self.check_end(authority, sent)
        self.check_end(authority, world)
        self.assertGreater(min(n for name, n in world.counts.items() if name != "pieces"), 50)
        self.assertGreater(world.stale_parts, 0)
        return world

    def check_states(self, authority, carried):
        for thing, entry in carried:
            if thing and entry.state is not None:
                tick = entry.tick - authority.tick_offset & 0xFFFFFFFF
                self.assertEqual(entry.state, authority.truth[thing.network_id, tick])

    def check_end(self, authority, world):
        there = {r.network_id: r.state for r in authority.replicas.values() if r.in_set}
        live = world.live()
        self.assertEqual({n: thing.states[thing.shown] for n, thing in live.items()}, there)
        for thing in live.values():
            self.assertEqual(thing.rested, thing.states[thing.shown])


if __name__ == "__main__":
    unittest.main()
