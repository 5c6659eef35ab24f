"""The keys of one connection and their rotation from the client's side (docs/spec/handshake.md, S-25 to S-32)."""

import secrets

import packets
import primitives as p
from handshake import next_master, traffic_key
from packets import require

MIN_INTERVAL_S = 10.0  # S-27: since the end of the last rotation, or since the start
MIN_OVERLAP_S, MAX_OVERLAP_S = 1.0, 5.0  # S-30
REKEY_INIT, REKEY_RESPONSE, REKEY_ASK = 1, 2, 13


class Epoch:
    def __init__(self, number, master):
        self.number, self.master = number, master
        self.send_key, self.receive_key = traffic_key(master, "client", number), traffic_key(master, "server", number)
        self.first_opened = None  # smallest packet number that opened under this epoch


class Rotation:
    """Both live epochs, and when the next begins. `wanted` starts a rotation as soon as the standard allows."""

    def __init__(self, master, is_aes, now_s):
        self.newest, self.old, self.is_aes = Epoch(0, master), None, is_aes
        self.wanted, self.in_flight, self.ended_s, self.erase_old_s = False, None, now_s, None

    def seal(self, number, header_type, connection_id, plaintext):
        """Seals a datagram under the newest epoch. An epoch is installed only when it may seal (S-29)."""
        epoch = self.newest
        header = packets.write_header(header_type, connection_id, epoch.number & 0xFF, number)
        nonce = packets.nonce(number, epoch.number)
        return header + p.aead_seal(epoch.send_key, nonce, plaintext, header, self.is_aes)

    def open(self, header, now_s, rto_s):
        """Returns the plaintext. None when the epoch is not live, the datagram is not authentic, or an old epoch
        was used after a newer one (S-31)."""
        live = [epoch for epoch in (self.newest, self.old) if epoch and epoch.number & 0xFF == header.key_epoch]
        if not live:
            return None
        epoch, number = live[0], header.packet_seq
        if epoch is self.old and self.newest.first_opened is not None and number > self.newest.first_opened:
            return None
        plaintext = p.aead_open(epoch.receive_key, packets.nonce(number, epoch.number), header.body, header.bytes,
                                self.is_aes)
        if plaintext is None:
            return None
        if epoch is self.newest and epoch.first_opened is None and self.old:
            self.erase_old_s = now_s + min(max(3 * rto_s, MIN_OVERLAP_S), MAX_OVERLAP_S)
        epoch.first_opened = number if epoch.first_opened is None else min(epoch.first_opened, number)
        return plaintext

    def update(self, now_s):
        """Returns the RekeyInit to send now, or None."""
        if self.erase_old_s is not None and now_s >= self.erase_old_s:
            self.old, self.erase_old_s = None, None
        if not self.wanted or self.in_flight or self.old or now_s - self.ended_s < MIN_INTERVAL_S:
            return None
        self.wanted = False
        secret = secrets.token_bytes(32)
        body = bytes([REKEY_INIT]) + (self.newest.number + 1).to_bytes(4, "little") + p.x25519_public(secret)
        self.in_flight = (secret, body)
        return body

    def on_control(self, body, now_s):
        """True when a packet should go out so that the server follows (S-29). Raises Malformed for a message
        that closes the connection (S-32)."""
        if body[0] == REKEY_ASK:
            require(len(body) == 1, "RekeyAsk has another length")
            self.wanted = self.wanted or not self.in_flight
            return False
        require(body[0] == REKEY_RESPONSE and len(body) == 37, "a rotation message to the wrong role, or cut")
        require(self.in_flight is not None, "a RekeyResponse to nothing")
        number = self.newest.number + 1
        require(int.from_bytes(body[1:5], "little") == number, "an epoch other than the next")
        secret, init_body = self.in_flight
        master = next_master(self.newest.master, p.x25519(secret, body[5:]), init_body, body, number)
        self.old, self.newest = self.newest, Epoch(number, master)
        self.in_flight, self.ended_s = None, now_s
        return True
