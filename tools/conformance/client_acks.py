"""Which packets arrived, on both sides of a connection: the acknowledgements that a client must send, and what its
peer's acknowledgements say about the client's packets (docs/spec/reliability.md). Times are seconds of any steady
clock."""

import secrets

from packets import require

REPLAY_WINDOW = 1024  # W-14
NUMBERED = 64  # packets within which numbers are compared
LARGEST_NUMBER = (1 << 62) - 1
RECORDS = 4096  # R-7 asks for 1024
MOST_UNACKNOWLEDGED = 1 << 15
ACK_DELAY_S, ACK_EVERY = 0.025, 16
FIRST_RTO_S, SHORTEST_RTO_S, LONGEST_RTO_S = 0.5, 0.05, 1.0
LATER_ACKS_OF_A_LOSS = 3
LONGEST_STRETCH = 999


class RoundTrip:
    """The round-trip estimate and the retransmission timeout (R-8)."""

    def __init__(self):
        self.srtt = self.rttvar = self.latest = None
        self.sample_count = 0

    def add(self, sample_s):
        if sample_s <= 0:
            return
        self.latest = sample_s
        self.sample_count += 1
        if self.srtt is None:
            self.srtt, self.rttvar = sample_s, sample_s / 2
            return
        self.rttvar = 0.75 * self.rttvar + 0.25 * abs(self.srtt - sample_s)
        self.srtt = 0.875 * self.srtt + 0.125 * sample_s

    @property
    def rto(self):
        if self.srtt is None:
            return FIRST_RTO_S
        return min(max(self.srtt + 4 * self.rttvar, SHORTEST_RTO_S), LONGEST_RTO_S)


class Arrivals:
    """Numbers of the peer's packets: the replay window (W-14), and the block that acknowledges them (R-2 to R-6)."""

    def __init__(self):
        self.opened, self.newest = set(), 0
        self.accepted, self.highest, self.highest_s = set(), 0, 0.0
        self.owed, self.owed_since_s = 0, None

    def is_fresh(self, number):
        return 1 <= number <= LARGEST_NUMBER and number + REPLAY_WINDOW > self.newest and number not in self.opened

    def mark(self, number):
        """Notes that the packet opened."""
        self.opened.add(number)
        if number > self.newest:
            self.newest = number
            self.opened -= {n for n in self.opened if n + REPLAY_WINDOW <= number}

    def is_late(self, number):
        """True when message numbers may have wrapped since that packet (R-32)."""
        return number + NUMBERED < self.newest

    def accept(self, number, asks, now_s):
        """Notes that everything in the packet was accepted: it may be acknowledged (R-2)."""
        self.accepted.add(number)
        if number > self.highest:
            self.highest, self.highest_s = number, now_s
            self.accepted -= {n for n in self.accepted if n + 33 < number}
        if asks:
            self.owed += 1
            if self.owed_since_s is None:
                self.owed_since_s = now_s

    def numbers(self):
        """The numbers that the next block names: the highest, and those of the 32 below it that arrived."""
        return [n for n in range(self.highest, max(self.highest - 33, 0), -1) if n in self.accepted]

    def take_block(self):
        """Returns (ack_seq, ack_bitfield) of a block that is about to be sent."""
        self.owed, self.owed_since_s = 0, None
        return self.highest & 0xFFFF, sum(1 << (self.highest - n - 1) for n in self.numbers() if n != self.highest)

    def is_due(self, now_s, until_next_s):
        """True when a block must go now, because the next chance is `until_next_s` away."""
        if self.owed == 0:
            return False
        return self.owed >= ACK_EVERY or now_s + until_next_s - self.owed_since_s >= ACK_DELAY_S


class Sent:
    """A packet that the client sent. `messages` are its reliable messages."""

    def __init__(self, sent_s, asks, messages, is_repeat):
        self.sent_s, self.messages, self.is_repeat = sent_s, messages, is_repeat
        self.state = "in flight" if asks else "not tracked"


def _stretch():
    return 1 + secrets.randbelow(LONGEST_STRETCH)


class AckBlockOrder:
    """Decides which of the peer's blocks can mean one packet only (R-4)."""

    def __init__(self):
        self.before = self.last = (0, 0)  # (number of the peer's packet, largest number acknowledged by then)

    def is_certain(self, number, newest, largest, last_sent, echoed):
        """`echoed` is the number of the packet whose probe is echoed beside the block, or 0."""
        if echoed and last_sent - echoed < 1 << 16:
            return True
        least = largest if number == newest else self.before[1]
        return newest - number <= NUMBERED and last_sent - least < 1 << 16

    def note_newest(self, number, largest):
        if number - self.last[0] >= NUMBERED:
            self.before, self.last = self.last, (number, largest)


class Departures:
    """The client's packets until they are acknowledged or lost."""

    def __init__(self):
        self.next_number, self.records = 1, {}
        self.left_out, self.until_left_out = set(), _stretch()
        self.round_trip = RoundTrip()
        self.lost_count = 0
        self.largest, self.ack_block_order = 0, AckBlockOrder()

    def add(self, record):
        self.records[self.next_number] = record
        self.records.pop(self.next_number - RECORDS, None)
        self.next_number += 1
        self.until_left_out -= 1
        if self.until_left_out == 0:
            self.left_out = {n for n in self.left_out if n + RECORDS > self.next_number} | {self.next_number}
            self.next_number, self.until_left_out = self.next_number + 1, _stretch()

    def is_full(self):
        """True when no message may leave (R-7). The next number may be left out."""
        return self.next_number + 1 - self.largest >= MOST_UNACKNOWLEDGED

    def on_block(self, packet, newest, block, delay_s, now_s, echoed=0):
        """Returns the messages that the block of a packet acknowledges (R-4), and takes its round-trip sample (R-9)."""
        last = self.next_number - 1
        if not self.ack_block_order.is_certain(packet, newest, self.largest, last, echoed):
            return []
        highest = last - ((last - block[0]) & 0xFFFF)
        if highest < 1 or last - highest > MOST_UNACKNOWLEDGED:
            return []
        self.largest = max(self.largest, highest)
        if packet == newest:
            self.ack_block_order.note_newest(packet, self.largest)
        named = self.records.get(highest)
        if named and named.state == "in flight" and not named.is_repeat:
            self.round_trip.add(now_s - named.sent_s - delay_s)
        arrived = []
        for number in [highest] + [highest - n - 1 for n in range(32) if block[1] >> n & 1]:
            require(number not in self.left_out, f"an acknowledgement of {number}, which was left out (R-19)")
            record = self.records.get(number)
            if record is not None and record.state != "acknowledged":
                record.state = "acknowledged"
                arrived += record.messages
        return arrived

    def take_losses(self, now_s):
        """Returns (number, messages) of the packets that count as lost now (R-11)."""
        trip = self.round_trip
        overtaken_s = FIRST_RTO_S if trip.srtt is None else 9 / 8 * max(trip.srtt, trip.latest) + 0.001
        silent_s = 2 * trip.rto + ACK_DELAY_S
        later, lost = 0, []
        for number in sorted(self.records, reverse=True):
            record = self.records[number]
            later += record.state == "acknowledged"
            age_s = now_s - record.sent_s
            if record.state == "in flight" and (later >= LATER_ACKS_OF_A_LOSS or (later and age_s > overtaken_s) or
                                                age_s > silent_s):
                record.state = "lost"
                lost.append((number, record.messages))
        self.lost_count += len(lost)
        return lost
