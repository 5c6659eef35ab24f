"""The sixteen channels of one connection, in both directions (docs/spec/reliability.md): which messages are sent again,
in which order they are delivered, and which are duplicates. No bytes and no clock here: client_connection.py has
those."""

from client_acks import NUMBERED
from packets import BUILT_IN_CHANNELS, require

WINDOW = 256  # until a credit says more
LONGEST_INTERVAL_S = 1.0


def difference(a, b):
    """The signed 16-bit difference (R-13)."""
    return ((a - b + 0x8000) & 0xFFFF) - 0x8000


class Outgoing:
    """One reliable message until it is acknowledged."""

    def __init__(self, channel, number, flags, body):
        self.channel, self.number, self.flags, self.body = channel, number, flags, body
        self.carrier = None  # packet_seq of the last packet that carried it
        self.interval_s = self.due_s = None
        self.sent_count = 0


class ReliableSender:
    def __init__(self, channel):
        self.channel, self.next_number = channel, 0
        self.waiting, self.in_flight = [], {}  # in_flight: number unwrapped -> Outgoing
        self.credit = WINDOW  # the peer's

    def queue(self, flags, body):
        self.waiting.append((flags, body))

    def take_new(self):
        """Returns the messages that the window lets leave now (R-14)."""
        taken = []
        while self.waiting and self.next_number - min(self.in_flight, default=self.next_number) < self.credit:
            flags, body = self.waiting.pop(0)
            message = Outgoing(self.channel, self.next_number, flags, body)
            self.in_flight[self.next_number] = message
            self.next_number += 1
            taken.append(message)
        return taken

    def take_due(self, now_s):
        """Returns the messages whose interval is over or whose last carrier was lost (R-12)."""
        return [m for m in self.in_flight.values() if m.due_s is not None and now_s >= m.due_s]

    def is_settled(self):
        return not self.waiting and not self.in_flight


class ReliableReceiver:
    def __init__(self, ordered):
        self.ordered = ordered
        self.next_number = 0  # lowest number not yet received, unwrapped
        self.early = {}

    def offer(self, number, flags, body):
        """Takes a message and returns the messages to deliver now (R-15). A duplicate delivers none."""
        at = self.next_number + difference(number, self.next_number & 0xFFFF)
        if at < self.next_number or at in self.early:
            return []
        require(at < self.next_number + WINDOW, f"message_id {number} is beyond the window (R-15)")
        self.early[at] = (flags, body)
        ready = [] if self.ordered else [(flags, body)]
        while self.next_number in self.early:
            stored = self.early.pop(self.next_number)
            self.next_number += 1
            if self.ordered:
                ready.append(stored)
        return ready


class SequencedReceiver:
    """Delivers a message only when it is newer than all before it (R-17)."""

    def __init__(self):
        self.last, self.last_packet = None, 0

    def is_newer(self, number, packet):
        if self.last is not None and packet <= self.last_packet + NUMBERED:
            ahead = (number - self.last) & 0xFFFF
            if ahead == 0 or ahead > 0x8000 or (ahead == 0x8000 and number < self.last):
                return False
        self.last, self.last_packet = number, packet
        return True


class Channels:
    """`modes` maps a channel to its mode, by the names of docs/spec/reliability.md."""

    def __init__(self, modes=None):
        self.modes = dict(modes or BUILT_IN_CHANNELS)
        reliable = [n for n, mode in self.modes.items() if mode.startswith("reliable")]
        self.senders = {n: ReliableSender(n) for n in reliable}
        self.receivers = {n: ReliableReceiver(self.modes[n] == "reliable_ordered") for n in reliable}
        self.sequenced = {n: SequencedReceiver() for n, mode in self.modes.items() if mode == "unreliable_sequenced"}
        self.next_sequence = {n: 0 for n in self.sequenced}
        self.unreliable = []  # (channel, flags, number or None, body) for the next packets

    def queue(self, channel, body, flags=0):
        if channel in self.senders:
            self.senders[channel].queue(flags, body)
            return
        number = None
        if channel in self.next_sequence:
            number = self.next_sequence[channel]
            self.next_sequence[channel] = (number + 1) & 0xFFFF
        self.unreliable.append((channel, flags, number, body))

    def is_settled(self):
        """True when no message waits and every reliable message was acknowledged."""
        return not self.unreliable and all(s.is_settled() for s in self.senders.values())
