"""The objects that snapshots describe (docs/spec/data.md, "Snapshots"), in the order in which an authority sends.

Here the rules that bind the authority are checked as well: its promises. client_world.py follows the same parts in the
order of arrival."""

from blocks import FULL, PIECE_BYTES, PIECES, REMOVED, ahead, read_part
from packets import Malformed, require

STATES_KEPT, STATES_OF_KEEP_PARTS_KEPT = 64, 16  # D-26
REUSE_TICKS = 64  # D-42
MOST_UNDER_WAY = 8  # states in pieces (D-57)
LARGEST_BOUND = 2 << 20  # of slots (D-12)


class Object:
    """What is known of the object of a slot. It stays known after its removal, until another object takes the slot."""

    def __init__(self, slot, network_id=None, type_id=None):
        self.slot, self.network_id, self.type_id = slot, network_id, type_id
        self.info = self.info_tick = None  # (owner, mode, authority_tick), and the tick of the full entry with it
        self.placed = None  # contents, if both sides placed it (D-51)
        self.states = {}  # tick -> contents
        self.kept = set()  # ticks of states that came in parts with keep
        self.shown = None  # tick of the newest state
        self.named = None  # tick of the newest baseline that an entry named
        self.said = None  # tick of the newest entry that says what the state is
        self.rested = None  # contents that do not change until a later entry
        self.has_changed = False  # since its stay began
        self.is_there, self.stay_tick, self.removed_tick = False, None, None
        self.rpc_counts = []  # of each stay that ended: the number of reliable RPCs that its removal names (D-35)
        # What the client acknowledged:
        self.acked = set()  # ticks of states of this stay
        self.is_full_acked = self.is_info_acked = self.is_removal_acked = False

    def is_gone_at(self, tick):
        """True for an entry sent at or before the newest removal (D-29)."""
        return self.removed_tick is not None and ahead(tick, self.removed_tick) <= 0

    def retain(self, ticks):
        """Forgets all states but those of `ticks`."""
        self.states = {t: state for t, state in self.states.items() if t in ticks}
        self.kept &= ticks
        self.acked &= ticks


class Long:
    """A state in pieces."""

    def __init__(self, slot, tick, length):
        self.slot, self.tick, self.data = slot, tick, bytearray(length)
        self.has, self.acked = set(), set()  # numbers of pieces
        self.thing = self.entry = None  # when it is complete

    def count(self):
        return -(-len(self.data) // PIECE_BYTES)

    def takes(self, entry):
        """Checks that pieces agree with those before."""
        require(len(self.data) == entry.length, f"slot {self.slot}: another length (D-59)")
        for number in self.has & _numbers(entry):
            at = number * PIECE_BYTES
            old, new = self.data[at:at + PIECE_BYTES], entry.data[at - entry.first * PIECE_BYTES:][:PIECE_BYTES]
            require(old == new, f"slot {self.slot}: piece {number} again with other bytes (D-59)")

    def with_pieces(self, entry):
        at = entry.first * PIECE_BYTES
        return self.data[:at] + entry.data + self.data[at + len(entry.data):]


def _numbers(entry):
    return set(range(entry.first, entry.first + entry.pieces))


class Snapshots:
    def __init__(self, schema):
        self.schema, self.objects, self.slots = schema, {}, {}
        self.longs = {}  # slot -> the state in pieces that is incomplete
        self.unacked = {}  # slot -> the newest state in pieces, until each of its pieces is acknowledged
        self.slot_bound = LARGEST_BOUND
        self.own_peer_id = None
        self.tick = 0
        self.session_tick = None  # server_tick of ConnectionAccepted
        self.confirmed_own_tick = 0  # newest tick with a part that confirms what the client owns (D-40)
        self.counts = {"parts": 0, "delta": 0, "full": 0, "removed": 0, "rested": 0, "pieces": 0}

    def place(self, placed):
        """The objects that both sides placed before the session: key -> (type_id, contents) (D-51)."""
        for slot, key in enumerate(sorted(placed)):
            thing = self.slots[slot] = self.objects[slot + 1] = Object(slot, slot + 1)
            thing.type_id, thing.placed = placed[key]
            thing.info = (0, 0, 0)
            thing.is_there = thing.is_full_acked = thing.is_info_acked = True

    def promise(self, holds, text):
        require(holds, text)

    def read(self, body):
        """Reads one part and applies it. Returns what its packet carries, for on_acked."""
        part = read_part(body, self)
        self.promise(not self.tick or ahead(part.tick, self.tick) >= 0, "ticks of snapshots go back")
        if not self.tick or ahead(part.tick, self.tick) > 0:
            self.tick = part.tick
        carried = []
        for entry in part.entries:
            try:
                if entry.kind == PIECES:
                    thing = self._pieces(entry)
                else:
                    may_be = entry.kind in (FULL, REMOVED) or entry.slot not in self.unacked
                    self.promise(may_be, "an entry while a state is under way in pieces (D-56)")
                    thing = self._apply(entry, part.keep)
            except Malformed as error:
                raise Malformed(f"slot {entry.slot} at tick {part.tick}: {error}") from error
            self.counts[("delta", "full", "removed", "rested", "pieces")[entry.kind]] += 1
            carried.append((thing, entry))
        self.longs = {slot: long for slot, long in self.longs.items() if not self._is_over(slot, long.tick)}
        if part.confirms_own:
            self._confirm_own(part)
        self.counts["parts"] += 1
        return carried

    def _apply(self, entry, keep):
        thing = (self._delta, self._full, self._removed, self._rested)[entry.kind](entry)
        if thing and entry.state is not None:
            self._store(thing, entry, keep)
        if entry.kind in (FULL, REMOVED) and entry.slot in self.unacked:
            if ahead(entry.tick, self.unacked[entry.slot].tick) > 0:
                del self.unacked[entry.slot]  # this is of another stay, or ends it
        return thing

    # ---- States in pieces -------------------------------------------------------------------------

    def _is_over(self, slot, tick):
        """True when pieces of this state are of no use (D-58)."""
        thing = self.slots.get(slot)
        return thing is not None and (thing.is_gone_at(tick) or
                                      thing.is_there and thing.shown is not None and ahead(tick, thing.shown) <= 0)

    def _long_of(self, entry):
        """The state to which pieces belong, or None if they come too late for it. It may be a new one."""
        if self._is_over(entry.slot, entry.tick):
            return None
        long = self.longs.get(entry.slot)
        if long is None:
            require(len(self.longs) < MOST_UNDER_WAY, "too many states in pieces (D-57)")
        elif ahead(entry.tick, long.tick) < 0:
            return None
        elif long.tick == entry.tick:
            return long
        return Long(entry.slot, entry.tick, entry.length)

    def whole(self, entry):
        long = self._long_of(entry)
        if long is None:
            return None
        long.takes(entry)
        return bytes(long.with_pieces(entry)) if len(long.has | _numbers(entry)) == long.count() else None

    def _pieces(self, entry):
        long = self._long_of(entry)
        if long is None:  # sent again, though the client has the state by now
            return self.unacked.get(entry.slot)
        if not long.has:
            self.promise(ahead(self.tick, entry.tick) >= 0, "a state of a later tick (D-56)")
            self.unacked[entry.slot] = long
        long.data = bytearray(long.with_pieces(entry))
        long.has |= _numbers(entry)
        self.longs[entry.slot] = long
        if entry.whole is not None:
            del self.longs[entry.slot]
            long.entry, long.thing = entry.whole, self._apply(entry.whole, False)
        return long

    # ---- What a part is read with -----------------------------------------------------------------

    def baseline(self, slot, tick, base):
        thing = self.slots.get(slot)
        require(thing and (thing.is_there or thing.is_gone_at(tick)), "a delta for a slot without an object (D-18)")
        if base == tick:
            require(thing.placed is not None, "age 0 for an object that was not placed (D-18)")
            return thing.type_id, thing.placed
        if base not in thing.states:
            self.no_baseline(tick, base)
        require(base in thing.acked or thing.is_gone_at(tick), f"its baseline {base} was never acknowledged (D-15)")
        return thing.type_id, thing.states[base]

    def no_baseline(self, tick, base):
        raise Malformed(f"no state at its baseline {base} (D-18)")

    def check_full(self, slot, tick, network_id, type_id):
        other = self.objects.get(network_id)
        if other:
            require(other.slot == slot or not other.is_there, f"object {network_id} has slot {other.slot} (D-18)")
            require(other.type_id in (type_id, None), f"the type of object {network_id} changed (D-18)")
            self.promise(other.slot == slot, f"object {network_id} moved from slot {other.slot} (D-12)")
        thing = self.slots.get(slot)
        if thing and thing.network_id != network_id:
            require(not thing.is_there, f"object {thing.network_id} of this slot was not removed (D-18)")
            self.promise(thing.placed is None, "the slot of a placed object is used again (D-52)")

    def check_removed(self, slot, network_id):
        thing = self.slots.get(slot)
        is_other = thing and thing.is_there and network_id not in (None, thing.network_id)
        require(not is_other, f"a removal of object {network_id} in the slot of another")

    # ---- Entries ----------------------------------------------------------------------------------

    def _delta(self, entry):
        thing = self.slots[entry.slot]
        self.promise(thing.is_info_acked, "no full entry with its owner and tenure was acknowledged (D-16)")
        if entry.base == entry.tick:
            return thing  # it stays a baseline for ever (D-51)
        newer = thing.named is None or ahead(entry.base, thing.named) >= 0
        self.promise(newer or entry.base in thing.kept, f"baseline {entry.base} after {thing.named} (D-15)")
        if newer:
            thing.named = entry.base
        return thing

    def _full(self, entry):
        thing = self._object_of(entry)
        if thing is None or thing.is_gone_at(entry.tick):
            return thing
        if not thing.is_there:
            self.promise(not thing.rpc_counts or thing.is_removal_acked, "its removal was not acknowledged (D-42)")
            thing.is_there, thing.stay_tick = True, entry.tick
            thing.acked.clear()
            thing.has_changed = False
            thing.is_info_acked = thing.is_removal_acked = False
        if thing.info_tick is None or ahead(entry.tick, thing.info_tick) > 0:
            thing.is_info_acked = thing.is_info_acked and thing.info == entry.info
            thing.info, thing.info_tick = entry.info, entry.tick
        return thing

    def _object_of(self, entry):
        """The object of a full entry, which may take the place of a removed one. None if it was removed meanwhile."""
        thing = self.slots.get(entry.slot)
        is_other = thing and thing.network_id != entry.network_id
        if is_other and thing.is_gone_at(entry.tick):
            return None
        if is_other:
            is_free = thing.is_removal_acked and ahead(entry.tick, thing.removed_tick) > REUSE_TICKS
            self.promise(is_free, "the slot is used again too early (D-42)")
        thing = self.objects.setdefault(entry.network_id, Object(entry.slot, entry.network_id))
        thing.type_id = entry.type_id
        self.slots[entry.slot] = thing
        return thing

    def _removed(self, entry):
        here = self.slots.setdefault(entry.slot, Object(entry.slot, entry.network_id))
        thing = here
        if entry.network_id is None:
            self.promise(here.is_full_acked, "a removal without a name (D-42)")
        else:
            thing = self.objects.setdefault(entry.network_id, here if here.network_id == entry.network_id else
                                            Object(entry.slot, entry.network_id))
        if thing.is_there and thing.shown is not None and ahead(entry.tick, thing.shown) <= 0:
            return thing  # D-28: another stay has begun
        if thing.is_there and thing.placed is not None and entry.left:
            thing.removed_tick = entry.tick  # it stays; a state of it in pieces is over (D-52)
            return thing
        if thing.is_there or not thing.rpc_counts:
            thing.rpc_counts.append(entry.rpc_count)
        self.promise(thing.rpc_counts[-1] == entry.rpc_count, "another rpc_count in the same removal (D-35)")
        thing.is_there = False
        for each in (here, thing):  # a full entry of an object that never came is late, too
            if not each.is_gone_at(entry.tick):
                each.removed_tick = entry.tick
        return thing

    def _rested(self, entry):
        """A client ignores an entry about an object, or about a state, that is not there (D-17)."""
        thing = self.slots.get(entry.slot)
        self.promise(thing and thing.is_there, "rested, but not there (D-42)")
        holds = thing and thing.is_there and entry.base in thing.states
        says_so = holds and thing.states[entry.base] == thing.states[thing.shown]
        self.promise(says_so, f"its newest state is not that of tick {entry.base} (D-17)")
        if holds and self.is_rest(thing, entry, says_so):
            thing.said, thing.rested = entry.tick, thing.states[thing.shown]
        return thing

    def is_rest(self, thing, entry, says_so):
        return says_so

    def _store(self, thing, entry, keep):
        """Stores a state (D-26). An older one serves as a baseline only (D-28)."""
        self.promise(entry.tick not in thing.states, "two states of one tick")
        thing.states.setdefault(entry.tick, entry.state)
        if keep:
            thing.kept.add(entry.tick)
        is_newer = thing.shown is None or ahead(entry.tick, thing.shown) > 0
        if thing.is_there and is_newer and not thing.is_gone_at(entry.tick):
            has_begun = thing.placed or (thing.shown is not None and ahead(thing.shown, thing.stay_tick) >= 0)
            before = thing.placed if thing.shown is None else thing.states.get(thing.shown)
            thing.has_changed |= bool(has_begun) and before != entry.state
            thing.shown = thing.said = entry.tick
            if thing.rested != entry.state:
                thing.rested = None
        thing.retain(self.needed(thing))

    def needed(self, thing):
        """The ticks of the states that a delta may still name (D-15, D-26)."""
        newest = sorted(thing.states, key=lambda t: ahead(t, self.tick), reverse=True)
        return set(newest[:STATES_KEPT] + [t for t in newest if t in thing.kept][:STATES_OF_KEEP_PARTS_KEPT])

    def _confirm_own(self, part):
        """Checks that the client has, or gets now, the newest state of each object it owns (D-40)."""
        self.confirmed_own_tick = part.tick
        here = {entry.slot for entry in part.entries}
        for thing in self.live().values():
            is_own = thing.info[0] == self.own_peer_id and thing.slot not in self.unacked
            held = any(thing.states.get(tick) == thing.states.get(thing.shown) for tick in thing.acked)
            self.promise(not is_own or thing.slot in here or held,
                         f"own object {thing.network_id} is neither acknowledged nor in this part (D-40)")

    # ---- Acknowledgements -------------------------------------------------------------------------

    def on_acked(self, carried):
        for thing, entry in carried:
            if thing is None:
                continue
            if entry.kind == PIECES:
                self._pieces_acked(thing, entry)
            elif entry.kind == REMOVED:
                if thing.stay_tick is None or ahead(entry.tick, thing.stay_tick) > 0:  # not that of an earlier stay
                    thing.is_removal_acked = True
            elif entry.state is not None and not thing.is_gone_at(entry.tick):
                if entry.tick in thing.states:
                    thing.acked.add(entry.tick)
                if entry.kind == FULL:
                    thing.is_full_acked = True
                    thing.is_info_acked = thing.is_info_acked or entry.info == thing.info

    def _pieces_acked(self, long, entry):
        if long.tick != entry.tick or long.slot != entry.slot:
            return
        long.acked |= _numbers(entry)
        if len(long.acked) < long.count():
            return
        if self.unacked.get(long.slot) is long:
            del self.unacked[long.slot]
        if long.entry is not None:
            self.on_acked([(long.thing, long.entry)])

    def live(self):
        return {thing.network_id: thing for thing in self.slots.values() if thing.is_there}
