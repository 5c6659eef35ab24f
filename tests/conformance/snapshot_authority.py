"""An authority that keeps every rule of docs/spec/data.md and uses all their freedom, for the test of the decoder.

One client, one packet per part. It sends random subsets of what is due, as one with a byte budget does, and sends again
what it takes for lost. Its objects change, rest, get other owners, leave and enter the client's set, and are
destroyed."""

from blocks import DELTA, FULL, REMOVED, RESTED
from snapshot_writer import block, delta, full, part, removed, rested

LOST_AFTER_TICKS = 30  # some of these packets arrive all the same
SLOTS = 24
STATES_KEPT, STATES_OF_KEEP_PARTS_KEPT, REUSE_TICKS = 64, 16, 65


class Replica:
    """One object, and what this client knows of it."""

    def __init__(self, slot, network_id, type_id, state, tick):
        self.slot, self.network_id, self.type_id, self.state = slot, network_id, type_id, state
        self.owner, self.authority_tick = 0, tick
        self.in_set, self.is_destroyed = True, False
        self.changed_tick = tick
        self.sent = []  # (tick, state, in a part with keep), every entry with a state
        self.acked = {}  # tick -> state, of this stay
        self.named = 0
        self.is_full_acked = self.is_head_acked = False
        self.is_removal_acked, self.removed_tick, self.stay_tick = True, None, tick
        self.pending_since = None  # tick of the newest entry in flight
        self.rests = False  # the client has been told, or will be

    def head(self, tick):
        return self.type_id, self.owner, int(self.owner != 0), tick - self.authority_tick

    def baselines(self):
        """The acknowledged states that the client still keeps (D-15)."""
        ticks = [t for t, _, _ in self.sent[-STATES_KEPT:] if t >= self.named]
        ticks += [t for t, _, keep in self.sent if keep][-STATES_OF_KEEP_PARTS_KEPT:]
        return sorted({t for t in ticks if t in self.acked})


class Authority:
    def __init__(self, schema, random, make_state, change_state, tick_offset):
        """Tick 1 is 1 + `tick_offset` on the wire, mod 2^32."""
        self.schema, self.random, self.tick_offset = schema, random, tick_offset
        self.make_state, self.change_state = make_state, change_state
        self.tick, self.next_network_id = 0, 1
        self.replicas = {}  # slot -> Replica
        self.truth = {}  # (network_id, tick) -> state
        self.flying = {}  # packet -> (tick, [(replica, kind, tick, head)])
        self.packets = 0

    # ---- The world --------------------------------------------------------------------------------

    def step(self, is_quiet):
        self.tick += 1
        if not is_quiet:
            self._live()
        for replica in self.replicas.values():
            self.truth[replica.network_id, self.tick] = replica.state
        for packet in [n for n, (tick, _) in self.flying.items() if self.tick - tick == LOST_AFTER_TICKS]:
            self._lost(*self.flying[packet])

    def _live(self):
        random = self.random
        for replica in self.replicas.values():
            if replica.is_destroyed:
                continue
            if random.random() < (0.02 if replica.slot % 3 else 0.7):
                self._set(replica, self.change_state(replica.type_id, replica.state))
            if random.random() < 0.01:
                replica.owner, replica.authority_tick = random.randrange(3), self.tick
                replica.is_head_acked, replica.pending_since, replica.rests = False, None, False
            if random.random() < 0.01:
                self._remove(replica, random.random() < 0.5)
            elif not replica.in_set and replica.is_removal_acked and random.random() < 0.1:
                self._enter(replica)
        if random.random() < 0.3:
            self._spawn()

    def _set(self, replica, state):
        if state != replica.state:
            replica.state, replica.changed_tick, replica.rests, replica.pending_since = state, self.tick, False, None

    def _spawn(self):
        slot = self.random.randrange(SLOTS)
        old = self.replicas.get(slot)
        is_free = old is None or (old.is_destroyed and old.is_removal_acked and
                                  (old.removed_tick is None or self.tick - old.removed_tick >= REUSE_TICKS))
        if is_free:
            type_id = self.random.choice(sorted(self.schema.types))
            self.replicas[slot] = Replica(slot, self.next_network_id, type_id, self.make_state(type_id), self.tick)
            self.next_network_id += 1

    def _remove(self, replica, is_destroyed):
        replica.is_destroyed |= is_destroyed
        if replica.in_set:
            replica.in_set, replica.is_removal_acked, replica.pending_since = False, not replica.sent, None

    def _enter(self, replica):
        replica.in_set, replica.stay_tick, replica.pending_since, replica.rests = True, self.tick, None, False
        replica.acked.clear()
        replica.is_head_acked = False

    # ---- Sending ----------------------------------------------------------------------------------

    def send(self):
        """Returns [(packet, body)]: the parts of the snapshot of this tick."""
        due = [self._due(replica) for replica in self.replicas.values()]
        chosen = [each for each in due if each and self.random.random() < 0.8]
        parts, at = [], 0
        while at < len(chosen):
            n = self.random.randrange(1, 12)
            parts.append(self._part(chosen[at:at + n]))
            at += n
        return parts or [self._part([])]

    def _due(self, replica):
        """Returns (kind, replica), or None when nothing of it needs to be sent now."""
        if not replica.in_set:
            return None if replica.is_removal_acked or replica.pending_since else (REMOVED, replica)
        if replica.pending_since:
            is_sent = replica.is_full_acked and replica.sent[-1][1] == replica.state
            return (RESTED, replica) if is_sent and not replica.rests and self.random.random() < 0.1 else None
        newest = replica.sent[-1][0] if replica.sent else None
        if replica.is_head_acked and newest in replica.acked and replica.sent[-1][1] == replica.state:
            return None if replica.rests else (RESTED, replica)
        return (DELTA if replica.is_head_acked and replica.baselines() else FULL), replica

    def _part(self, chosen):
        keep = self.random.random() < 0.1
        entries, carried = {}, []
        for kind, replica in sorted(chosen, key=lambda each: each[1].slot):
            entries.setdefault((kind, self.random.randrange(2)), []).append(self._entry(kind, replica, keep))
            carried.append((replica, kind, self.tick, (replica.owner, replica.authority_tick)))
        blocks = [block(self.schema, kind, each, self.random.randrange(5)) for (kind, _), each in entries.items()]
        self.packets += 1
        self.flying[self.packets] = self.tick, carried
        inputs = (self.random.randrange(9), self.random.randrange(-128, 128)) if self.random.random() < 0.5 else None
        return self.packets, part(self.tick + self.tick_offset & 0xFFFFFFFF, *blocks, keep=keep, inputs=inputs)

    def _entry(self, kind, replica, keep):
        if kind == RESTED:
            newest = replica.sent[-1][0]
            replica.rests = newest in replica.acked  # The client ignores one that overtakes its state (D-17).
            return rested(replica.slot, self.tick - newest)
        replica.pending_since = self.tick
        if kind == REMOVED:
            replica.removed_tick = self.tick
            name = None if replica.is_full_acked else replica.network_id
            return removed(replica.slot, int(not replica.is_destroyed), name)
        replica.sent.append((self.tick, replica.state, keep))
        if kind == FULL:
            return full(replica.slot, replica.network_id, replica.head(self.tick), replica.state)
        base = self.random.choice(replica.baselines()[-3 if self.random.random() < 0.9 else 0:])
        replica.named = max(replica.named, base)
        return delta(replica.slot, self.tick - base, replica.type_id, replica.acked[base], replica.state)

    # ---- What became of it ------------------------------------------------------------------------

    def on_acked(self, packet):
        for replica, kind, tick, head in self.flying.pop(packet, (0, []))[1]:
            if kind == REMOVED:
                replica.is_removal_acked |= not replica.in_set and tick >= replica.stay_tick
            elif kind != RESTED and replica.in_set and (replica.removed_tick is None or tick > replica.removed_tick):
                replica.acked[tick] = self.truth[replica.network_id, tick]
                replica.is_full_acked |= kind == FULL
                replica.is_head_acked |= kind == FULL and head == (replica.owner, replica.authority_tick)
            if replica.pending_since == tick:
                replica.pending_since = None

    def _lost(self, _, carried):
        """Still in `flying`: a late acknowledgement counts."""
        for replica, kind, tick, _ in carried:
            if replica.pending_since == tick:
                replica.pending_since = None
            if kind == RESTED:
                replica.rests = False
