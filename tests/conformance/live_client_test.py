#!/usr/bin/env python3
"""A client written from docs/spec alone against a live server, over real UDP sockets: live_client_test.py SERVER

Each test starts SERVER (echo_server.c) anew. Waiting is bounded by generous times, so that a slow machine makes this
slower and nothing else."""

import json
import pathlib
import secrets
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "conformance"))

import packets  # noqa: E402  (found through the path above)
import primitives  # noqa: E402
from client_connection import SERVER_RESTARTED  # noqa: E402
from client_handshake import NO_ANSWER, TIMEOUT  # noqa: E402
from handshake import AES_256_GCM  # noqa: E402
from lattice_client import Client, Server  # noqa: E402
from state import Schema  # noqa: E402

REQUESTED, SCHEMA_MISMATCH, CONFIG_MISMATCH, APPLICATION_REASON = 1, 7, 14, 300
UNRELIABLE, SEQUENCED, UNORDERED, ORDERED = range(4)
MESSAGES = 300  # more than one window
MOST_UNANSWERED = 100  # echoes of one channel that may go to the old address before the new one is proved (M-3, M-4)
SHORT_BUDGET_S = 4.0


class RunningServer:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        note = json.loads(self.process.stdout.readline())
        self.schema_id, self.server = note["schema_id"], Server(note)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.wait(30) != 0:
            raise AssertionError(f"the server returned {self.process.returncode}")
        self.process.stdout.close()

    def kill(self):
        """Without a word to anybody."""
        self.process.kill()
        self.process.wait(30)
        self.process.stdin.close()
        self.process.stdout.close()

    def next_end(self):
        """The reason the next connection ended with, from the server's side."""
        return json.loads(self.process.stdout.readline())["ended"]

    def next_schema_differences(self):
        """What the server says of the first client that told a difference."""
        return json.loads(self.process.stdout.readline())["schema_differences"]


def numbered(channel, i):
    return b"%d: message %04d" % (channel, i)


def echoes_of(client, channel):
    return sum(came_by == channel for came_by, _ in client.received)


def processor_has_aes():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = file.read().split()
    return {"aes", "pclmulqdq"} <= set(flags) or {"aes", "pmull"} <= set(flags)


class LiveClient(unittest.TestCase):
    def client(self, *arguments, **options):
        client = Client(*arguments, **options)
        self.addCleanup(client.close)
        return client

    def exchange(self, client, count):
        """Sends `count` messages on each channel, never more than MOST_UNANSWERED ahead of the ordered echoes. Returns
        what came, by channel."""
        for i in range(count):
            self.assertTrue(client.pump_until(lambda: i - echoes_of(client, ORDERED) < MOST_UNANSWERED),  # noqa: B023
                            "echoes are missing")
            for channel in range(4):
                client.connection.send(channel, numbered(channel, i))
            if i % 5 == 4:
                client.pump()
        self.assertTrue(client.pump_until(lambda: all(echoes_of(client, n) >= count for n in (UNORDERED, ORDERED))),
                        "echoes are missing")
        self.assertTrue(client.pump_until(client.connection.channels.is_settled), "something was never acknowledged")
        return {n: [body for channel, body in client.received if channel == n] for n in range(4)}

    def check_channels(self, echoes, count):
        sent = {n: [numbered(n, i) for i in range(count)] for n in range(4)}
        self.assertEqual(echoes[ORDERED], sent[ORDERED])
        self.assertEqual(sorted(echoes[UNORDERED]), sent[UNORDERED])
        for channel in (UNRELIABLE, SEQUENCED):
            self.assertLessEqual(set(echoes[channel]), set(sent[channel]))
            self.assertEqual(len(set(echoes[channel])), len(echoes[channel]), "delivered twice")
            self.assertGreater(len(echoes[channel]), count // 10)
        self.assertEqual(echoes[SEQUENCED], sorted(echoes[SEQUENCED]), "newest wins")

    def check_walker(self, client):
        """The server's rule holds in what was decoded: x is half of steps mod 181, and steps come to us."""
        tick, (x_code, y_code, steps, resting) = client.world.newest(min(client.world.live()))
        steps //= 2  # zig-zag of a positive number
        self.assertAlmostEqual(-100 + x_code / 64, steps % 181 / 2, delta=1 / 64)
        self.assertEqual((y_code, resting), (100 * 64, steps // 30 % 2))
        self.assertGreater(tick, 0)
        return steps

    def test_schema_id_is_computed_alike(self):
        with RunningServer() as running:
            self.assertEqual(running.server.schema.id, running.schema_id)

    def test_four_channels_snapshots_and_a_graceful_end(self):
        with RunningServer() as running:
            client = self.client(running.server)
            self.assertTrue(client.connect())
            client.connection.departures.until_left_out = 5  # R-19, at a moment that is sure to come
            self.check_channels(self.exchange(client, MESSAGES), MESSAGES)
            self.assertTrue(client.connection.departures.left_out)
            before = self.check_walker(client)
            deltas = client.world.counts["delta"]
            self.assertTrue(client.pump_until(lambda: client.world.counts["delta"] > deltas + 10))
            self.assertGreater(self.check_walker(client), before, "no news of the walker")
            self.assertGreater(client.connection.departures.round_trip.sample_count, 0)
            self.assertTrue(client.disconnect("goodbye, Köln"))
            self.assertEqual(running.next_end(), REQUESTED)
            self.assertLess(client.connection.disconnects_sent, 3, "the acknowledgement was not understood")

    def test_exactly_once_through_loss_duplication_and_reordering(self):
        with RunningServer("15") as running:
            client = self.client(running.server)
            self.assertTrue(client.connect())
            self.check_channels(self.exchange(client, MESSAGES), MESSAGES)
            self.check_walker(client)
            self.assertGreater(client.connection.counts["resent messages"], 0, "nothing was lost")
            self.assertGreater(client.connection.departures.lost_count, 0)
            self.assertTrue(client.pump_until(lambda: client.connection.counts["refused"] > 0), "nothing was duplicated")
            self.assertTrue(client.disconnect())

    def test_a_disconnect_from_the_server_is_understood_and_answered(self):
        with RunningServer() as running:
            client = self.client(running.server)
            self.assertTrue(client.connect())
            client.connection.send(ORDERED, b"kick me")
            self.assertTrue(client.pump_until(lambda: client.state == "disconnected"))
            self.assertEqual(client.connection.end, (APPLICATION_REASON, "as you wish", "peer"))
            self.assertEqual(running.next_end(), APPLICATION_REASON)

    def test_new_keys_under_either_cipher(self):
        """Both at once: the first rotation may begin ten seconds after the start (S-27)."""
        with RunningServer() as running:
            plain, aes = self.client(running.server), self.client(running.server, features=AES_256_GCM)
            for client in (plain, aes):
                self.assertTrue(client.connect())
                client.connection.rotation.wanted = True
            self.assertFalse(plain.connection.rotation.is_aes)
            self.assertEqual(aes.connection.rotation.is_aes, processor_has_aes(), "S-33")
            while any(client.connection.rotation.newest.number == 0 for client in (plain, aes)):
                for client in (plain, aes):
                    self.assertEqual(client.state, "connected")
                    client.pump()
            for client in (plain, aes):
                self.check_channels(self.exchange(client, MESSAGES), MESSAGES)
                rotation = client.connection.rotation
                self.assertIsNotNone(rotation.newest.first_opened, "the server did not follow")
                self.assertTrue(client.pump_until(lambda: rotation.old is None))  # noqa: B023
                self.check_walker(client)
                self.assertTrue(client.disconnect())

    def test_the_session_goes_on_from_another_address(self):
        with RunningServer() as running:
            client = self.client(running.server)
            self.assertTrue(client.connect())
            self.exchange(client, 20)
            for _ in range(2):
                challenges = client.connection.counts["path challenges"]
                client.move()
                client.received.clear()
                self.check_channels(self.exchange(client, MESSAGES), MESSAGES)
                self.assertGreater(client.connection.counts["path challenges"], challenges, "nobody asked who it is")
            self.check_walker(client)
            self.assertTrue(client.disconnect())
            self.assertEqual(running.next_end(), REQUESTED)

    def test_another_schema_is_refused_by_name(self):
        with RunningServer() as running:
            schema_id = running.server.schema.id
            running.server.schema = Schema({"types": [], "input": None}, packets.BUILT_IN_CHANNELS)
            client = self.client(running.server)
            self.assertFalse(client.connect())
            self.assertEqual(client.state, "refused")
            self.assertEqual(client.handshake.refusal[:2], (SCHEMA_MISMATCH, schema_id))
            text = client.handshake.schema_text
            self.assertEqual(int.from_bytes(primitives.sha256(text)[:8], "little"), schema_id, "the text told is the server's (S-44)")

    def test_both_sides_name_what_differs(self):
        lines = (b"Walker.Walker.steps\tvarint 16 flags 0\n"  # the server has another one
                 b"Walker.Walker.wings\tbool flags 0\n"
                 b"Walker\n"  # the client has none of it, as it says
                 b"Nobody\n"  # has neither the server
                 b"Walker.\\x1b[31m\tbool flags 0\n")  # no name
        with RunningServer() as running:
            running.server.schema = Schema({"types": [], "input": None}, packets.BUILT_IN_CHANNELS)
            client = self.client(running.server, schema_lines=lines)
            self.assertFalse(client.connect())
            self.assertEqual((client.state, client.handshake.refusal[0]), ("refused", SCHEMA_MISMATCH))
            self.assertTrue(client.handshake.was_told, "message 7 was not answered (S-48)")
            own = dict(line.rsplit(": ", 1) for line in running.next_schema_differences())
            self.assertEqual(list(own), ["Walker.Walker.steps", "Walker.Walker.wings", "Walker"])
            self.assertEqual(own["Walker.Walker.wings"], "only the client has it")
            self.assertEqual(own["Walker"], "only the server has it")
            self.assertRegex(own["Walker.Walker.steps"], "^client varint 16, server .+$")

    def test_another_tick_rate_is_refused_with_both_numbers(self):
        with RunningServer() as running:
            client = self.client(running.server, tick_rate=50)
            self.assertFalse(client.connect())
            reason, _, text = client.handshake.refusal
            self.assertEqual((reason, text), (CONFIG_MISMATCH, b"tick_rate_hz: server 60, client 50"))

    def test_a_server_with_another_key_gives_no_answer(self):
        with RunningServer() as running:
            running.server.public_key = primitives.x25519_public(bytes(range(32)))
            client = self.client(running.server, budget_s=SHORT_BUDGET_S)
            self.assertFalse(client.connect())
            self.assertEqual(client.handshake.refusal[0], NO_ANSWER)

    def test_a_restarted_server_that_kept_its_identity_says_so(self):
        identity = secrets.token_bytes(64).hex()
        first = RunningServer("0", "127.0.0.1:0", identity)
        client = self.client(first.server)
        self.assertTrue(client.connect())
        self.assertTrue(client.pump_until(lambda: client.connection.reset_token is not None))
        first.kill()
        with RunningServer("0", "%s:%d" % first.server.address, identity) as second:
            self.assertEqual(second.server.public_key, first.server.public_key)
            self.assertTrue(client.pump_until(lambda: client.state == "disconnected", 5.0))
            self.assertEqual(client.connection.end[0], SERVER_RESTARTED)

    def test_a_used_token_and_a_forged_one_meet_silence(self):
        with RunningServer() as running:
            first = self.client(running.server)
            self.assertTrue(first.connect())
            self.assertTrue(first.disconnect())
            self.assertEqual(running.next_end(), REQUESTED)
            again = self.client(running.server, first.secret, first.token, budget_s=SHORT_BUDGET_S)
            spoilt = bytearray(running.server.issue(primitives.x25519_public(first.secret)))
            spoilt[-1] ^= 1
            forged = self.client(running.server, first.secret, bytes(spoilt), budget_s=SHORT_BUDGET_S)
            while {again.state, forged.state} & {"connecting", "handshake"}:  # each ends with its budget
                again.pump()
                forged.pump()
            for client in (again, forged):
                self.assertEqual(client.state, "gave up")
                self.assertEqual(client.handshake.refusal[0], TIMEOUT)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
