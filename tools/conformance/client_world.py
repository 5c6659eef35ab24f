"""How a client applies snapshots that are lost, late and out of order (docs/spec/data.md, "At the client").

The decoder's `Snapshots` follows a session in the order of sending. This module follows it in the order of arrival, and
forgets states as early as a client may."""

import packets
from blocks import Forgotten, ahead
from packets import Malformed
from snapshots import Snapshots

OLDEST_PART_TICKS = 64  # D-27
KEPT_BEFORE_BASELINE_TICKS = 16  # D-26


class ReceivedWorld(Snapshots):
    def __init__(self, schema):
        super().__init__(schema)
        self.carried = {}  # packet_seq -> what the parts in it carried
        self.stale_parts = self.forgotten_parts = 0

    def on_part(self, body, packet_seq):
        """Takes one is_snapshot message. Returns False when it is too old: its packet is not acknowledged (D-27)."""
        tick = packets.Bytes(body).uint(4)
        if self.tick and tick and ahead(self.tick, tick) > OLDEST_PART_TICKS:
            self.stale_parts += 1
            return False
        try:
            carried = self.read(body)
        except Forgotten:
            self.forgotten_parts += 1
            return False
        self.carried.setdefault(packet_seq, []).extend(carried)
        return True

    def on_acknowledging(self, numbers):
        """These packets are acknowledged now: the states that they carried may become baselines (D-15)."""
        for number in numbers:
            self.on_acked(self.carried.pop(number, []))

    def promise(self, holds, text):
        """A client cannot tell: what it misses may be on the way."""

    def no_baseline(self, tick, base):
        if self.tick and ahead(tick, self.tick) < 0:
            raise Forgotten  # D-27
        raise Malformed(f"no state at its baseline {base} (D-18)")

    def is_rest(self, thing, entry, says_so):
        """A state from that of the named one to the entry is the same one, sent again (D-17)."""
        return ahead(thing.shown, entry.base) >= 0 and ahead(entry.tick, thing.shown) >= 0

    def needed(self, thing):
        ticks = super().needed(thing)
        if thing.named is None:
            return ticks
        return {t for t in ticks if t in thing.kept or ahead(t, thing.named) >= 0 or
                ahead(self.tick, t) <= KEPT_BEFORE_BASELINE_TICKS}

    def newest(self, network_id):
        """Returns (tick, contents) of a live object, or None."""
        thing = self.objects.get(network_id)
        if thing is None or not thing.is_there:
            return None
        return thing.shown, thing.states[thing.shown] if thing.shown is not None else thing.placed
