"""How a client applies snapshots that are lost, late and out of order (docs/spec/data.md, "At the client").

The decoder's `Snapshots` follows a session in the order of sending. This module follows it in the order of arrival."""

import packets
from packets import require
from state import Snapshots

STATES_KEPT_TICKS = 128  # D-26
OLDEST_PART_TICKS = 64  # D-27


class ReceivedWorld(Snapshots):
    def __init__(self, schema):
        super().__init__(schema)
        self.carried = {}  # packet_seq -> [(id, tick)] of the parts in it
        self.stale_parts = 0

    def on_part(self, body, packet_seq):
        """Takes one is_snapshot message. Returns False when it is too old: its packet is not acknowledged (D-27)."""
        tick = packets.Bytes(body).uint(4)
        if self.tick - tick > OLDEST_PART_TICKS:
            self.stale_parts += 1
            return False
        self.carried.setdefault(packet_seq, []).extend(self.read(body))
        return True

    def on_acknowledging(self, numbers):
        """These packets are acknowledged now: the states that they carried may become baselines (D-15)."""
        for number in numbers:
            self.on_acked(self.carried.pop(number, []))

    def _follow_parts(self, tick, part, parts):
        self.tick = max(self.tick, tick)

    def _store(self, network_id, tick, state):
        """Stores a state (D-26). An older state serves as a baseline only (D-28)."""
        thing = self.objects[network_id]
        require(thing.states.setdefault(tick, state) == state, "two states of one tick")
        thing.newest = max(thing.newest, tick)
        for old in [t for t in thing.states if self.tick - t >= STATES_KEPT_TICKS and t != thing.newest]:
            del thing.states[old]

    def newest(self, network_id):
        """Returns (tick, contents) of a live object, or None."""
        thing = self.objects.get(network_id)
        if thing is None or thing.removed_tick is not None or not thing.states:
            return None
        return thing.newest, thing.states[thing.newest]
