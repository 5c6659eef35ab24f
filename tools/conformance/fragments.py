"""Puts messages together from their fragments (docs/spec/fragmentation.md). The reader sees everything that a side
sends: the fragments come in the order of their first sending, and all of them come."""

from packets import RPC, SNAPSHOT, require

UNIT, LONGEST = 1136, 290816


class Assembler:
    """The messages of one channel and direction. With `unit` None it accepts any unit, as a receiver must (G-10)."""

    def __init__(self, unit=UNIT):
        self.unit = unit
        self.groups = 0  # number of complete groups
        self.first = None  # fragment 0 of the message in progress
        self.bodies = []

    def inside(self):
        return self.first is not None

    def add(self, message):
        """Returns the whole body when this was the last fragment, else None."""
        group, index, count = message.fragment
        require(message.channel < 14 and not message.flags & SNAPSHOT, "a message that must not be cut (G-7)")
        require(index == len(self.bodies), f"fragment {index} instead of {len(self.bodies)} (G-3, G-5)")
        if index == 0:
            self.first = message
        first = self.first
        require((group, count) == (first.fragment[0], first.fragment[2]), "group or count (G-9)")
        require(not (message.flags ^ first.flags) & RPC, "is_rpc differs between fragments (G-3)")
        if self.unit is not None:
            require(group == self.groups & 0xFFFF, f"group {group} instead of {self.groups & 0xFFFF} (G-4)")
        if first.number is not None:
            expected = first.number + (index if message.mode.startswith("reliable") else 0)
            require(message.number == expected & 0xFFFF, "number of a fragment (G-5, G-6)")
        is_last = index + 1 == count
        unit = self.unit if self.unit is not None else len(self.bodies[0] if self.bodies else message.body)
        require(1 <= len(message.body) <= unit, "length of a fragment (G-10)")
        require(is_last or len(message.body) == unit, "length of a fragment that is not the last (G-10)")
        self.bodies.append(message.body)
        if not is_last:
            return None
        body = b"".join(self.bodies)
        require(len(body) <= LONGEST, "a message that is too long (G-10)")
        self.groups += 1
        self.first, self.bodies = None, []
        return body
