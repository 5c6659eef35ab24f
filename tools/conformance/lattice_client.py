#!/usr/bin/env python3
"""A small client of the Lattice wire standard, written from docs/spec alone.

    lattice_client.py NOTE

NOTE is a file with one JSON object that says where a server is and how to be admitted:

    {"address": "127.0.0.1:27015", "server_public_key": hex, "issuer_seed": hex, "schema": S}

issuer_seed signs the client's token (a test's issuer; a real one is a service), S is a schema in the form
lattice_decode.py describes, or null for no types at all. Connects, sends one message on each of the four channels,
prints what comes back and what the snapshots say, and takes its leave. Returns 0 when every channel answered.
Needs Python 3 and the `cryptography` or the `nacl` package.

As a module: Client is a connection over a real UDP socket; client_handshake, client_connection and client_world are
its parts, without socket or clock.
"""

import json
import os
import secrets
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import handshake  # noqa: E402  (found through the path above)
import packets  # noqa: E402
import primitives as p  # noqa: E402
from client_connection import PUMP_S, Connection  # noqa: E402
from client_handshake import BUDGET_S, ClientHandshake  # noqa: E402
from client_world import ReceivedWorld  # noqa: E402
from state import Schema  # noqa: E402

NO_TYPES = {"types": [], "input": None}


class Server:
    """A server, as its note describes it."""

    def __init__(self, note):
        host, port = note["address"].rsplit(":", 1)
        self.address = (host, int(port))
        self.public_key = bytes.fromhex(note["server_public_key"])
        self.issuer_seed = bytes.fromhex(note["issuer_seed"])
        self.schema = Schema(note["schema"] or NO_TYPES, packets.BUILT_IN_CHANNELS)

    def issue(self, client_public, **spoilt):
        """Issues a connect token of five minutes for `client_public`. `spoilt` replaces fields."""
        now = int(time.time())
        inputs = {"schema_id": hex(self.schema.id), "token_issued": now, "token_expires": now + 300, **spoilt}
        values = {"inputs": inputs, "secret": {"issuer_ed25519": self.issuer_seed},
                  "issuer": p.ed25519_public(self.issuer_seed), "protocol_id": packets.PROTOCOL_ID,
                  "player": b"python".ljust(16, b"\0"), "session": bytes(16)}
        return handshake.make_token(values, 1, 1, secrets.token_bytes(16), self.public_key, client_public, b"")


class Client:
    """One connection attempt and its connection. Messages arrive in `received` as (channel, body)."""

    def __init__(self, server, secret=None, token=None, budget_s=BUDGET_S, features=0, tick_rate=60,
                 schema_lines=b""):
        self.server, self.secret = server, secret or secrets.token_bytes(32)
        self.token = token or server.issue(p.x25519_public(self.secret))
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.handshake = ClientHandshake(self.secret, self.token, server.schema.id, time.monotonic(), time.time(),
                                         budget_s, features, tick_rate, schema_lines=schema_lines)
        self.connection, self.world, self.received = None, ReceivedWorld(server.schema), []

    def pump(self):
        """Does everything that is due, then waits for datagrams until the next pump."""
        deadline_s = time.monotonic() + PUMP_S
        half = self.connection or self.handshake
        half.update(time.monotonic())
        self._flush()
        while (left_s := deadline_s - time.monotonic()) > 0:
            self.socket.settimeout(left_s)
            try:
                datagram, sender = self.socket.recvfrom(2048)
            except TimeoutError:
                break
            if sender == self.server.address:  # S-18
                self._on_datagram(datagram, time.monotonic())
        self._flush()

    def _on_datagram(self, datagram, now_s):
        if self.connection:
            self.connection.on_datagram(datagram, now_s)
            return
        self.handshake.on_datagram(datagram, now_s)
        if self.handshake.accepted:
            self.world.session_tick = self.handshake.accepted.server_tick
            self.connection = Connection(self.handshake.accepted, now_s, self._on_message, self.world.on_acknowledging)

    def _on_message(self, channel, flags, body, packet_seq):
        if flags & packets.SNAPSHOT:
            return self.world.on_part(body, packet_seq)
        self.received.append((channel, body))
        return True

    def _flush(self):
        half = self.connection or self.handshake
        for datagram in half.outbox:
            self.socket.sendto(datagram, self.server.address)
        half.outbox.clear()

    def pump_until(self, condition, at_most_s=20.0):
        end_s = time.monotonic() + at_most_s
        while not condition():
            if time.monotonic() > end_s:
                return False
            self.pump()
        return True

    @property
    def state(self):
        return self.connection.state if self.connection else self.handshake.state

    def connect(self):
        """Connects. Returns True when the server accepted."""
        self.pump_until(lambda: self.state not in ("connecting", "handshake"))
        return self.connection is not None

    def rotate(self, at_most_s=40.0):
        """Rotates the keys as soon as the standard allows. True once the server follows and the old keys are erased."""
        rotation = self.connection.rotation
        number, rotation.wanted = rotation.newest.number + 1, True
        return self.pump_until(lambda: rotation.newest.number == number and not rotation.old, at_most_s)

    def move(self):
        """Goes on from another port, as a client does whose NAT forgot this port (docs/spec/paths.md)."""
        self.socket.close()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.2", 0))

    def disconnect(self, text=""):
        """Ends the connection in order. True when the server confirmed or the grace time is over."""
        self.connection.disconnect(time.monotonic(), text=text)
        return self.pump_until(lambda: self.state == "disconnected")

    def close(self):
        self.socket.close()


def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    with open(arguments[1], encoding="utf-8") as file:
        client = Client(Server(json.load(file)))
    if not client.connect():
        print(f"not admitted: {client.state}, {client.handshake.refusal}")
        return 1
    print(f"connected as peer {client.handshake.accepted.peer_id}")
    for channel in range(4):
        client.connection.send(channel, b"hello on %d" % channel)
    answered = client.pump_until(lambda: len(client.received) >= 4)
    for channel, body in client.received:
        print(f"channel {channel}: {body}")
    for network_id in client.world.live():
        print(f"object {network_id}: {client.world.newest(network_id)}")
    client.disconnect("goodbye")
    return 0 if answered else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
