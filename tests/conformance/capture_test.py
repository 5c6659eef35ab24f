#!/usr/bin/env python3
"""What the library captures against what the decoder opens: capture_test.py PREFIX

PREFIX.jsonl is a recorded session, PREFIX.server.pcapng and PREFIX.client.pcapng what its two ends captured. The decoder
has its plaintexts from the client's secret and the datagrams alone, the library from inside; nothing may differ."""

import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "conformance"))

import capture  # noqa: E402  (found through the path above)
import pcapng  # noqa: E402


# The client's port changes under way (docs/spec/paths.md); a recording has sides and no addresses.
BY_HOST = {address[0]: address for address in capture.ADDRESSES.values()}


def told(records):
    """All that both ways of opening know of a datagram; times differ by the clock's step."""
    return [(BY_HOST[each.source[0]], BY_HOST[each.destination[0]], each.dissector, each.data) for each in records]


class Captures(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        _, datagrams = capture.datagrams(PREFIX + ".jsonl")
        cls.sent = {side: told(d.record for d in datagrams if d.record.source == address)
                    for side, address in capture.ADDRESSES.items()}
        cls.captured = {side: told(pcapng.read(f"{PREFIX}.{side}.pcapng")) for side in capture.ADDRESSES}

    def split(self, side):
        """(what this side sent, what it received), as it captured them."""
        own = capture.ADDRESSES[side]
        return ([each for each in self.captured[side] if each[0] == own],
                [each for each in self.captured[side] if each[1] == own])

    def test_everything_sent_is_captured_in_order_and_opened(self):
        for side in capture.ADDRESSES:
            self.assertEqual(self.split(side)[0], self.sent[side])

    def test_what_opened_is_what_the_peer_sent_once_each(self):
        for side, peer in (("server", "client"), ("client", "server")):
            opened = [each for each in self.split(side)[1] if each[2] == pcapng.OPENED]
            sent = set(self.sent[peer])
            self.assertGreater(len(opened), len(sent) // 2)
            for each in opened:
                self.assertIn(each, sent)
            sessions = [each for each in opened if each[3][4] in (1, 2, 3)]
            self.assertEqual(len(set(sessions)), len(sessions), "a duplicate opened")

    def test_what_did_not_open_is_shown_as_it_came(self):
        for side in capture.ADDRESSES:
            raw = collections.Counter(each[3][4] for each in self.split(side)[1] if each[2] == pcapng.AS_ON_THE_WIRE)
            self.assertGreater(raw[0], 0, "messages 1 and 2 have nothing sealed")
            self.assertGreater(raw[1], 0, "no duplicate arrived: the link is impaired, so the test is quiet")

    def test_the_pump_s_times_grow(self):
        for side in capture.ADDRESSES:
            times = [each.time_us for each in pcapng.read(f"{PREFIX}.{side}.pcapng")]
            self.assertEqual(times, sorted(times))


if __name__ == "__main__":
    PREFIX = sys.argv.pop(1)
    unittest.main()
