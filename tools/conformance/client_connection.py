"""One established connection from the client's side: packets sealed, opened and packed, keepalives, the end
(docs/spec/wire.md, reliability.md, states.md). Datagrams and times come in as arguments; what is to be sent is
collected in `outbox`."""

import hmac

import packets
from client_acks import Arrivals, Departures, Sent
from client_channels import LONGEST_INTERVAL_S, Channels
from client_rotation import REKEY_ASK, REKEY_INIT, REKEY_RESPONSE, Rotation
from packets import DISCONNECT, ELIDED, KEEPALIVE, PAYLOAD, SNAPSHOT, TAG, Malformed, require

LARGEST_DATAGRAM = 1200  # W-6
LARGEST_PLAINTEXT = LARGEST_DATAGRAM - 23 - TAG
IDLE_S, TIMEOUT_S = 1.0, 10.0  # states.md, timers
DISCONNECT_EVERY_S, DISCONNECT_COUNT, GRACE_S = 0.05, 3, 0.2
REQUESTED, TIMEOUT, PROTOCOL_ERROR, SERVER_RESTARTED = 1, 2, 10, 15
CONTROL = 15
ROTATION_TYPES = [bytes([kind]) for kind in (REKEY_INIT, REKEY_RESPONSE, REKEY_ASK)]
RESET_TOKEN, RESET_BODY_BYTES, CREDIT = b"\x0e", 27, b"\x0f"
PUMP_S = 0.005  # the interval at which update() is called


class Connection:
    """What channels deliver goes to `on_message(channel, flags, body, packet_seq)`, which returns False for a
    snapshot part too old to be acknowledged (D-27). `on_acknowledging(numbers)` is told of every block sent."""

    def __init__(self, accepted, now_s, on_message, on_acknowledging=lambda numbers: None):
        self.connection_id = accepted.connection_id
        self.rotation = Rotation(accepted.master, accepted.is_aes, now_s)
        self.on_message, self.on_acknowledging = on_message, on_acknowledging
        self.channels, self.arrivals, self.departures = Channels(), Arrivals(), Departures()
        self.outbox = []
        self.reset_token = None  # the bytes with which a reset of this connection ends
        self.echo = None  # (probe_us, time of arrival)
        self.path_response = None  # the answer to a path challenge
        self.probed_s = 0.0
        self.probes = {}  # probe_us -> (time of leaving, number of its packet)
        self.heard_s = self.last_sent_s = now_s
        self.state, self.end = "connected", None  # end: (reason, text, who ended it)
        self.disconnects_sent, self.ending_since_s = 0, None
        self.counts = {"sent": 0, "opened": 0, "resent messages": 0, "refused": 0, "path challenges": 0}
        self._keepalive(now_s, probe=True)  # S-21, L-4

    # ---- Packets ----------------------------------------------------------------------------------

    def _seal(self, packet_type, plaintext, now_s, asks=False, messages=(), is_repeat=False):
        number = self.departures.next_number  # W-12
        self.outbox.append(self.rotation.seal(number, packet_type, self.connection_id, plaintext))
        self.departures.add(Sent(now_s, asks, list(messages), is_repeat))
        self.last_sent_s = now_s
        self.counts["sent"] += 1
        return number

    def on_datagram(self, datagram, now_s):
        """One datagram from the server's address, in the order of W-13. Raises Malformed, and ends the connection,
        when a packet opens to something the standard does not explain (W-16)."""
        try:
            header = packets.Header(datagram)
        except Malformed:
            return self._refuse()
        if header.type not in (PAYLOAD, KEEPALIVE, DISCONNECT):
            return self._refuse()  # a repeated answer of the handshake
        if header.connection_id != self.connection_id or len(header.body) < TAG:
            return self._refuse()
        plaintext = None
        if self.arrivals.is_fresh(header.packet_seq):
            plaintext = self.rotation.open(header, now_s, self.departures.round_trip.rto)
        if plaintext is None:
            self._end_if_reset(header.body)
            return self._refuse()
        self.arrivals.mark(header.packet_seq)
        self.heard_s = now_s
        self.counts["opened"] += 1
        try:
            self._on_opened(header.type, header.packet_seq, plaintext, now_s)
        except Malformed as error:
            self.disconnect(now_s, PROTOCOL_ERROR, str(error)[:64])
            raise
        return None

    def _end_if_reset(self, body):
        """Ends the connection when the datagram is a reset of it (L-13)."""
        is_reset = (self.reset_token is not None and len(body) == RESET_BODY_BYTES and
                    hmac.compare_digest(body[-len(self.reset_token):], self.reset_token))
        if is_reset and self.state == "connected":
            self.state, self.end = "disconnected", (SERVER_RESTARTED, "", "peer")

    def _refuse(self):
        self.counts["refused"] += 1

    def _on_opened(self, packet_type, number, plaintext, now_s):
        if packet_type == DISCONNECT:
            self._on_disconnect(packets.parse_disconnect(plaintext), now_s)
        elif self.state != "connected":
            return  # L-5: nothing else is delivered
        elif packet_type == KEEPALIVE:
            self.arrivals.accept(number, self._on_keepalive(number, packets.parse_keepalive(plaintext), now_s), now_s)
        else:
            messages, block = packets.parse_payload(plaintext, self.channels.modes)
            self._on_block(number, block, ack_delay_s(plaintext), now_s)
            if all([self._on_message(number, message, now_s) for message in messages]):
                self.arrivals.accept(number, bool(messages), now_s)  # channel 14 does not count

    def _on_block(self, number, block, delay_s, now_s, echoed=0):
        for message in self.departures.on_block(number, self.arrivals.newest, block, delay_s, now_s, echoed):
            self.channels.senders[message.channel].in_flight.pop(message.number, None)
        self._note_losses(now_s)

    def _note_losses(self, now_s):
        for number, messages in self.departures.take_losses(now_s):
            for message in messages:
                if message.carrier == number:
                    message.due_s = now_s

    def _take_block_bytes(self):
        """Returns the block of the packet that is about to be sent (R-3)."""
        self.on_acknowledging(self.arrivals.numbers())
        ack_seq, bitfield = self.arrivals.take_block()
        return u(ack_seq, 2) + u(bitfield, 4)

    # ---- Messages ---------------------------------------------------------------------------------

    def send(self, channel, body, flags=0):
        """Queues a message for the next update()."""
        self.channels.queue(channel, body, flags)

    def _on_message(self, number, message, now_s):
        """Returns False when this message forbids to acknowledge its packet."""
        channels, channel = self.channels, message.channel
        is_numbered = channel in channels.receivers or channel in channels.sequenced and not message.flags & SNAPSHOT
        if is_numbered and self.arrivals.is_late(number):
            return False
        if channel in channels.receivers:
            ready = channels.receivers[channel].offer(message.number, message.flags & ~ELIDED, message.body)
            for flags, body in ready:
                if channel == CONTROL and body[:1] in ROTATION_TYPES:
                    self._on_rotation(body, now_s)
                elif channel == CONTROL and body[:1] == RESET_TOKEN:
                    require(len(body) == 17 and self.reset_token is None, "a reset token (L-9)")
                    self.reset_token = body[1:]
                elif channel == CONTROL and body[:1] == CREDIT:
                    of_channel, credit = packets.read_credit(body, channels.modes)
                    channels.senders[of_channel].credit = credit
                else:
                    self.on_message(channel, flags, body, number)
            return True
        if channel in channels.sequenced and not message.flags & SNAPSHOT:
            if not channels.sequenced[channel].is_newer(message.number, number):
                return True
        return self.on_message(channel, message.flags, message.body, number) is not False

    def _on_rotation(self, body, now_s):
        if self.rotation.on_control(body, now_s):
            self._keepalive(now_s, probe=True)  # S-29

    def _send_messages(self, now_s):
        if self.departures.is_full():
            return
        senders = self.channels.senders.values()
        reliable = [m for s in senders for m in s.take_due(now_s)] + [m for s in senders for m in s.take_new()]
        unreliable, self.channels.unreliable = self.channels.unreliable, []
        while reliable or unreliable:
            self._send_payload(reliable, unreliable, now_s)

    def _send_payload(self, reliable, unreliable, now_s):
        """Sends the messages at the front of both lists that fit one packet. The block goes first (W-18)."""
        block, carried, plaintext = self._take_block_bytes(), [], b""
        while reliable:
            message = reliable[0]
            flags = message.flags | (ELIDED if carried else 0)
            framed = frame(message.channel, flags, message.body, u(message.number & 0xFFFF, 2), b"" if carried else block)
            if len(plaintext) + len(framed) > LARGEST_PLAINTEXT:
                break
            plaintext += framed
            carried.append(reliable.pop(0))
        if not carried:
            plaintext = frame(14, 0, block + u(self._delay_units(now_s), 2))
        while unreliable:
            channel, flags, sequence, body = unreliable[0]
            framed = frame(channel, flags, body, b"" if sequence is None else u(sequence, 2))
            if len(plaintext) + len(framed) > LARGEST_PLAINTEXT:
                break
            plaintext += framed
            unreliable.pop(0)
        is_repeat = any(message.sent_count for message in carried)
        number = self._seal(PAYLOAD, plaintext, now_s, True, carried, is_repeat)
        for message in carried:
            self.counts["resent messages"] += message.sent_count > 0
            message.interval_s = (min(2 * message.interval_s, LONGEST_INTERVAL_S) if message.sent_count else
                                  self.departures.round_trip.rto)
            message.sent_count += 1
            message.carrier, message.due_s = number, now_s + message.interval_s

    def _delay_units(self, now_s):
        """The delay of the acknowledgement in units of W-19."""
        return min(int((now_s - self.arrivals.highest_s) * 1e6 / 32), 0xFFFF) if self.arrivals.highest else 0

    # ---- Keepalives, timers, the end --------------------------------------------------------------

    def _keepalive(self, now_s, probe):
        flags = (1 | 32 if probe else 0) | (2 if self.echo else 0) | (8 if self.path_response else 0)
        body = bytes([flags]) + self._take_block_bytes() + u(0, 4)
        if probe:
            probe_us = int(now_s * 1e6)
            self.probes[probe_us], self.probed_s = (now_s, self.departures.next_number), now_s
            body += u(probe_us, 8)
        if self.echo:
            probe_us, came_s = self.echo
            body += u(probe_us, 8) + u(int((now_s - came_s) * 1e6), 4)
            self.echo = None
        if self.path_response:
            body += self.path_response
            self.path_response = None
        self._seal(KEEPALIVE, body, now_s, asks=probe)

    def _on_keepalive(self, number, keepalive, now_s):
        """Returns True when the keepalive asks for an acknowledgement."""
        left_s, echoed = self.probes.pop(keepalive.get("echo_us"), (None, 0))
        if left_s is not None:
            self.departures.round_trip.add(now_s - left_s - keepalive["echo_delay_us"] / 1e6)
        self._on_block(number, keepalive["block"], 0.0, now_s, echoed)
        if "probe_us" in keepalive:
            self.echo = (keepalive["probe_us"], now_s)
        if "challenge" in keepalive:
            self.path_response = keepalive["challenge"]  # M-6: the latest challenge counts
            self.counts["path challenges"] += 1
        return bool(keepalive["flags"] & 32)

    def disconnect(self, now_s, reason=REQUESTED, text=""):
        if self.state == "connected":
            self.state, self.end, self.ending_since_s = "disconnecting", (reason, text, "here"), now_s
            self._end_in_order(now_s)

    def _send_disconnect(self, now_s, acknowledges):
        reason, text = (0, b"") if acknowledges else (self.end[0], self.end[1].encode())
        self._seal(DISCONNECT, u(reason, 2) + bytes([acknowledges, len(text)]) + text, now_s)

    def _on_disconnect(self, body, now_s):
        """The peer ends the connection (L-5)."""
        reason, flags, text = body
        if self.state == "disconnected":
            return
        if self.state == "connected":
            told = reason if packets.is_reason_of("server", reason) else PROTOCOL_ERROR
            self.end = (told, text.decode(), "peer")
        if not flags:
            self._send_disconnect(now_s, True)
        self.state = "disconnected"

    def _end_in_order(self, now_s):
        since_s = now_s - self.ending_since_s
        if since_s >= GRACE_S:
            self.state = "disconnected"
        elif self.disconnects_sent < DISCONNECT_COUNT and since_s >= DISCONNECT_EVERY_S * self.disconnects_sent:
            self.disconnects_sent += 1
            self._send_disconnect(now_s, False)

    def update(self, now_s):
        """Runs the timers and sends the queued messages. Call it every PUMP_S."""
        if self.state == "disconnecting":
            self._end_in_order(now_s)
        if self.state != "connected":
            return
        if now_s - self.heard_s > TIMEOUT_S:
            self.state, self.end = "disconnected", (TIMEOUT, "", "here")
            return
        self._note_losses(now_s)
        rekey_init = self.rotation.update(now_s)
        if rekey_init:
            self.channels.queue(CONTROL, rekey_init)
        self._send_messages(now_s)
        idle = now_s - self.last_sent_s >= IDLE_S
        probe = idle or (self.departures.is_full() and now_s - self.probed_s >= 1)
        if probe or self.echo or self.path_response or self.arrivals.is_due(now_s, PUMP_S):
            self._keepalive(now_s, probe)


def u(value, n):
    return value.to_bytes(n, "little")


def frame(channel, flags, body, *header):
    """Frames one channel message (wire.md)."""
    return bytes([channel << 4 | flags]) + b"".join(header) + (len(body) << 2).to_bytes(2, "big") + body


def ack_delay_s(plaintext):
    """The delay (W-19) in a Payload that begins with a channel-14 message of eight bytes."""
    if plaintext[:3] == bytes([14 << 4, 0, 8 << 2]):
        return int.from_bytes(plaintext[9:11], "little") * 32e-6
    return 0.0
