"""The initiator's half of the handshake (docs/spec/handshake.md). Datagrams and times come in as arguments. Datagrams
to send are collected in `outbox`."""

import secrets

import packets
import primitives as p
from handshake import AES_256_GCM, ZERO_NONCE, Keys, difference_datagram
from packets import HANDSHAKE, RESPONSE, Malformed, require, write_header
from placed import NOTHING, summary_bytes

BUDGET_S = 10.0  # S-20
CHALLENGES_KEPT = 16  # S-18
RESPONSES_BEFORE_FALLBACK = 3  # S-20
TELL_S = 1.0  # S-48
OWN_DATAGRAM = 1200
OWN_ROOM = 1 << 20  # objects
VERSION_MISMATCH, TOKEN_EXPIRED, TIMEOUT, NO_ANSWER = 6, 4, 2, 16
CLOCK_SKEW_S = 30


class Accepted:
    """The values that message 4 gives a client."""

    def __init__(self, connection_id, peer_id, server_tick, tick_rate, master, is_aes):
        self.connection_id, self.peer_id = connection_id, peer_id
        self.server_tick, self.tick_rate = server_tick, tick_rate
        self.master, self.is_aes = master, is_aes


class Candidate:
    """One Challenge and the message 3 that is a function of it (S-19)."""

    def __init__(self, challenge, datagram, keys):
        self.challenge, self.datagram, self.keys = challenge, datagram, keys


class ClientHandshake:
    """`state` is connecting, handshake, then connected (`accepted` is set), refused (`refusal` is (reason, schema_id,
    text)) or gave up (`refusal` is (reason, 0, ""))."""

    def __init__(self, secret, token, schema_id, now_s, unix_s, budget_s=BUDGET_S, features=0,
                 tick_rate=60, placed=NOTHING, schema_lines=b""):
        self.placed = summary_bytes(placed)
        self.secret, self.public, self.token, self.schema_id = secret, p.x25519_public(secret), token, schema_id
        self.features, self.tick_rate, self.fields = features, tick_rate, packets.parse_token(token)
        self._check_token()
        self.es = p.x25519(secret, self.fields["aud"])
        self.state, self.accepted, self.refusal, self.denied = "connecting", None, None, False
        self.outbox, self.candidates = [], {}
        self.pages, self.schema_text = {}, b""
        self.schema_lines, self.telling = schema_lines, None  # to tell; (datagram, th7's inputs, keys, end) while told
        self.was_told = False
        self.give_up_s, self.responses = now_s + budget_s, 0
        self.expires_s = self.fields["expires"] - unix_s + now_s
        self._send_request()
        self._schedule(now_s, is_first=True)

    def _check_token(self):
        """Checks the token (S-17)."""
        fields = self.fields
        require(fields["kind"] == 1 and fields["role"] == 1, "not an initiator's connect token")
        require(fields["protocol_id"] == packets.PROTOCOL_ID, "the token is of another version")
        require(fields["cnf"] == self.public != fields["aud"], "the token is for another key")
        require(fields["schema_id"] in (0, self.schema_id), "the token states another schema")

    # ---- Sending ----------------------------------------------------------------------------------

    def _send_request(self):
        request = (write_header(HANDSHAKE) + b"\x01" + self.public + len(self.token).to_bytes(2, "little") + self.token)
        self.outbox.append(request + bytes(1200 - len(request)))

    def _schedule(self, now_s, is_first=False):
        """Sets the time of the next sending (S-20): k counts from 0 in each state."""
        self.tries = 0 if is_first else self.tries + 1
        interval_s = min(0.25 * 2 ** self.tries, 1.0)
        self.retry_s = now_s + interval_s * (0.9 + secrets.randbelow(201) / 1000)

    def update(self, now_s):
        if self.state not in ("connecting", "handshake"):
            return
        if self.telling:
            if now_s > self.telling[-1]:
                self.state = "refused"
            elif now_s >= self.retry_s:
                self.outbox.append(self.telling[0])
                self._schedule(now_s)
        elif now_s > self.give_up_s:
            self.state, self.refusal = "gave up", (self._reason_of_giving_up(now_s), 0, b"")
        elif now_s >= self.retry_s:
            self._retry(now_s)

    def _retry(self, now_s):
        falls_back = self.state == "handshake" and self.responses == RESPONSES_BEFORE_FALLBACK
        if self.state == "handshake" and not falls_back:
            self.responses += 1
            self.outbox += [candidate.datagram for candidate in self.candidates.values()]
        else:
            self.state = "connecting"
            self._send_request()
        self._schedule(now_s, is_first=falls_back)

    def _reason_of_giving_up(self, now_s):
        """The reason for which the client gives up (L-7)."""
        if self.denied:
            return VERSION_MISMATCH
        if self.candidates:
            return TIMEOUT
        return TOKEN_EXPIRED if now_s > self.expires_s + CLOCK_SKEW_S else NO_ANSWER

    # ---- Receiving --------------------------------------------------------------------------------

    def on_datagram(self, datagram, now_s):
        """Takes one datagram from the server's address. Drops a datagram that proves nothing, and returns why."""
        try:
            header = packets.Header(datagram)
            require(header.type == HANDSHAKE and header.body, "no handshake message")
            require(header.key_epoch == 0 and header.packet_seq == 0, "handshake header (S-7)")
            message = header.body[0]
            if message == 2:
                require(self.telling is None, "a Challenge of a client that is refused")
                self._on_challenge(header.body, now_s)
            elif message == 6 and self.telling:
                self._on_told(header)
            elif message in (3, 6):
                self._on_answer(header, message, now_s)
            elif message == 4:
                self._on_denial(header.body)
            else:
                require(False, f"handshake message {message}")
        except (Malformed, ValueError) as error:
            return str(error)
        return None

    def _on_challenge(self, body, now_s):
        challenge = packets.parse_challenge(body, self.token)
        if challenge not in self.candidates:
            candidate = self._answer(challenge)
            if len(self.candidates) == CHALLENGES_KEPT:
                del self.candidates[next(iter(self.candidates))]  # the oldest candidate makes way
            self.candidates[challenge] = candidate
        elif self.state == "handshake":
            return  # this Challenge was answered already
        self.outbox.append(self.candidates[challenge].datagram)
        if self.state == "connecting":
            self.state, self.responses = "handshake", 1
            self._schedule(now_s, is_first=True)

    def _answer(self, challenge):
        bucket_pub, nonce, key_index = challenge
        ee = p.x25519(self.secret, bucket_pub)
        keys = Keys(packets.PROTOCOL_ID, self.fields["aud"], self.token, self.public, challenge, self.es, ee)
        clear = (write_header(RESPONSE) + self.public + nonce + bytes([key_index]) +
                 len(self.token).to_bytes(2, "little") + self.token)
        plain = (nonce + self.fields["token_id"] + self.schema_id.to_bytes(8, "little") +
                 self.features.to_bytes(4, "little") + OWN_DATAGRAM.to_bytes(2, "little") +
                 self.tick_rate.to_bytes(2, "little") + OWN_ROOM.to_bytes(4, "little") + self.placed)
        sealed = p.aead_seal(keys.k3, ZERO_NONCE, plain, clear)
        keys.set_response(sealed)
        return Candidate(challenge, clear + sealed, keys)

    def _on_told(self, header):
        """The server has read the message 7 when its answer opens (S-48)."""
        _, salt, sealed, keys, _ = self.telling
        _, k4 = keys.answer_to_difference(salt, sealed, header.body[1:17])
        plain = p.aead_open(k4, ZERO_NONCE, header.body[17:], header.bytes + header.body[:17])
        require(plain is not None, "an answer to an earlier message")
        self.refusal, told = packets.parse_refusal(plain)
        require(told is None, "a page in the answer to message 7 (S-48)")
        self.state, self.was_told = "refused", True

    def _on_answer(self, header, message, now_s):
        """Takes messages 4 and 6. They count when they open under one of the Challenges (S-18)."""
        accept_random, sealed = header.body[1:17], header.body[17:]
        require((message == 3) == (header.connection_id != 0), "connection_id of an answer (S-7)")
        associated = header.bytes + header.body[:17]
        for candidate in self.candidates.values():
            plain = p.aead_open(candidate.keys.k4(accept_random), ZERO_NONCE, sealed, associated)
            if plain is None:
                continue
            if message == 6:
                self._on_refused(plain, candidate, now_s)
            else:
                self._on_accepted(header.connection_id, plain, candidate.keys, accept_random, sealed)
            return
        raise Malformed("an answer that opens under no Challenge")

    def _on_refused(self, plain, candidate, now_s):
        """Ends, unless pages of the server's schema are still to come (S-44)."""
        self.refusal, told = packets.parse_refusal(plain)
        if told is not None:
            page, pages, text = told
            self.pages[page] = text
            if len(self.pages) < pages:
                self.outbox.append(candidate.datagram)
                return
        self.schema_text = b"".join(self.pages[page] for page in sorted(self.pages))
        if not self.schema_lines or self.refusal[0] != packets.SCHEMA_MISMATCH:
            self.state = "refused"
            return
        datagram, salt, sealed = difference_datagram(candidate.keys, self.public, candidate.challenge, self.token,
                                                     self.schema_id, self.schema_lines)
        self.telling = (datagram, salt, sealed, candidate.keys, now_s + TELL_S)
        self.outbox.append(datagram)
        self._schedule(now_s, is_first=True)

    def _on_accepted(self, connection_id, plain, keys, accept_random, sealed):
        fields = packets.parse_fields(plain, 8, 4, 2, 2, 8, 8, 4)
        own_id, server_tick, _mtu_hint, tick_rate, peer_id, schema_id, features = fields
        require(own_id == connection_id, "connection_id inside and outside differ (S-18)")
        require(schema_id == self.schema_id, "schema_id (S-18)")
        require(tick_rate == self.tick_rate, "tick_rate (S-39)")
        require(features & ~self.features == 0, "a feature nobody offered (S-35)")
        keys.set_accept(accept_random, sealed)
        self.accepted = Accepted(own_id, peer_id, server_tick, tick_rate, keys.m0, bool(features & AES_256_GCM))
        self.state = "connected"

    def _on_denial(self, body):
        """Takes a denial, which is advisory (S-23)."""
        cursor = packets.Bytes(body)
        cursor.uint(1)
        reason = cursor.uint(2)
        cursor.uint(4)
        cursor.end("ConnectionDenied")
        require(reason == VERSION_MISMATCH, "a denial that may not be")
        self.denied = True
