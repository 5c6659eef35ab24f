"""Decodes a recorded session: every datagram, to the last bit, against docs/spec.

It explains each byte. Beyond that it checks the promises of the specification across packets: numbers only grow, only
sent packets are acknowledged, each id occurs once and with the same body each time, baselines were acknowledged,
redundant inputs agree, and the last states are those at the end of the recording."""

import json

import packets
import primitives as p
from fragments import Assembler
from handshake import ZERO_NONCE, Keys, next_master, traffic_key
from packets import DISCONNECT, HANDSHAKE, KEEPALIVE, PAYLOAD, RESPONSE, Malformed, require
from placed import read_placed
from snapshots import Snapshots
from state import Schema, content_text, read_inputs, read_rpc
from transfers import Transfers

PEER = {"client": "server", "server": "client"}
WINDOW = 256
AES = 1  # the bit of `features` for sealing session packets with AES-256-GCM


class Side:
    """What one side has sent so far."""

    def __init__(self):
        self.last_seq = 0
        self.packets = {}  # packet_seq -> what its snapshot parts carry; no other packet may be acknowledged
        self.acked = set()
        self.probes = set()
        self.challenges = set()
        self.mtu_limit = 1200
        self.mtu_probes = {}  # packet_seq -> size in bytes
        self.mtu_proved = 1200
        self.messages = {}  # (channel, message_id unwrapped) -> (flags, fragment, body)
        self.next_id = {}  # channel -> the next id, unwrapped
        self.credits = {}  # channel -> the largest credit that the other side gave
        self.sequence = {}  # channel or "engine" -> the last sequence number
        self.engine_tick = None
        self.epoch = 0  # the epoch under which it seals
        self.keys = {}  # epoch -> the traffic key of the side
        self.assemblers = {}  # channel -> the assembler of its message in fragments
        self.long = []  # (channel, hash) of each message that came in fragments


class Session:
    def __init__(self, head):
        require(head.get("format") == "lattice-session 1", "not a lattice-session 1 file")
        self.secret = bytes.fromhex(head["client_secret"])
        self.client_pub = p.x25519_public(self.secret)
        self.issuer = bytes.fromhex(head["issuer"])
        self.transfers = Transfers()
        self.channels = dict(packets.BUILT_IN_CHANNELS)
        self.channels.update({int(n): mode for n, mode in head["channels"].items()})
        self.schema = Schema(head["schema"], self.channels)
        self.token = None
        self.challenges, self.responses = {}, {}
        self.opened = None  # of the last datagram: (the clear part, the plaintext), or None when nothing is sealed
        self.connection_id = self.accepted = self.reset_token = None
        self.offered, self.aes = 0, False
        self.master = None  # the master secret of the newest epoch
        self.newest_epoch = 0
        self.rekey_secrets = {}  # public key -> secret of the client's half
        self.rekey_init = None  # body of the rotation in flight
        self.sides = {"client": Side(), "server": Side()}
        self.snapshots = Snapshots(self.schema)
        placed, self.placed = read_placed(self.schema, [bytes.fromhex(text) for text in head.get("placed", [])])
        self.snapshots.place(placed)
        self.reliable_rpcs = {}  # network_id -> calls from the server (D-35)
        self.inputs = {}
        self.lead = None
        self.expected_long = {}
        self.counts = {"datagrams": 0, "bytes": 0, "messages": 0, "resent": 0, "fragments": 0, "fragmented": 0,
                       "rpcs": 0, "removals with rpcs": 0, "inputs": 0, "keepalives": 0, "disconnects": 0, "rotations": 0, "credits": 0,
                       "path challenges": 0, "mtu probes": 0, "transfer messages": 0, "chunks": 0, "resets": 0,
                       "entries compared": 0, "sets compared": 0, "own compared": 0}

    def datagram(self, sender, data):
        self.counts["datagrams"] += 1
        self.counts["bytes"] += len(data)
        self.opened = None
        header = packets.Header(data)
        if header.type in (HANDSHAKE, RESPONSE):
            require(len(data) <= 1200, "a handshake datagram of more than 1200 bytes (W-6)")
            self._handshake(sender, data, header)
        else:
            self._session_packet(sender, header, len(data))

    # ---- Handshake --------------------------------------------------------------------------------

    def _handshake(self, sender, data, header):
        require(header.key_epoch == 0 and header.packet_seq == 0, "handshake header (S-7)")
        message = header.body[0] if header.type == HANDSHAKE and header.body else None
        require(header.connection_id == 0 or message == 3, "connection_id in the handshake (S-7)")
        if header.type == RESPONSE:
            require(sender == "client", "ChallengeResponse from the server (W-9)")
            return self._response(data, header)
        require((message == 1) == (sender == "client"), f"handshake message {message} from the {sender} (W-9)")
        if message == 1:
            return self._request(data, header)
        if message == 2:
            challenge = packets.parse_challenge(header.body, self.token)
            self.challenges[challenge[1]] = challenge
            return None
        require(message == 3, f"handshake message {message}")
        return self._accepted(data, header)

    def _request(self, data, header):
        client, raw = packets.parse_request(data, header.body)
        require(client == self.client_pub, "C_pub is not of the given secret")
        require(self.token in (None, raw), "the token changed")
        self.token, self.fields = raw, packets.parse_token(raw)
        require(self.fields["kind"] == 1 and self.fields["role"] == 1, "not an initiator's connect token (S-10)")
        require(self.fields["protocol_id"] == packets.PROTOCOL_ID and self.fields["cnf"] == client, "token (S-10)")
        require(self.fields["issuer_key_id"] == p.sha256(self.issuer)[:8], "issuer key id")
        require(p.ed25519_verify(self.issuer, self.fields["signed"], self.fields["signature"]), "token signature")

    def _response(self, data, header):
        client, cookie, key_index, token, clear, sealed = packets.parse_response(header.body)
        challenge = self.challenges.get(cookie)
        require(challenge and challenge[2] == key_index, "an answer to no Challenge")
        require(client == self.client_pub and token == self.token, "C_pub or token differ from message 1")
        if cookie in self.responses:
            require(self.responses[cookie][0] == data, "message 3 repeated with other bytes (S-19)")
            self.opened = self.responses[cookie][2]
            return
        server_pub = self.fields["aud"]
        keys = Keys(packets.PROTOCOL_ID, server_pub, token, client, challenge, p.x25519(self.secret, server_pub),
                    p.x25519(self.secret, challenge[0]))
        plain = p.aead_open(keys.k3, ZERO_NONCE, sealed, header.bytes + clear)
        require(plain is not None, "message 3 does not open under k3")
        (nonce, token_id, schema_id, features, max_datagram, self.offered_tick_rate, max_objects,
         *placed) = packets.parse_fields(plain, 16, 16, 8, 4, 2, 2, 4, 4, 8, 8, 8)
        require(nonce == cookie and token_id == self.fields["token_id"], "sealed part of message 3 (S-12)")
        require(schema_id == self.schema.id, f"schema_id {schema_id:#x}, but the text gives {self.schema.id:#x} (D-30)")
        require(features & ~AES == 0 and max_datagram >= 1200, "features or max_datagram")
        require(tuple(placed) == self.placed, "other placed objects than were given (S-41)")
        self.offered = features
        self.snapshots.slot_bound = max(2 * max_objects, 65536)  # D-12
        self.sides["server"].mtu_limit = max_datagram
        keys.set_response(sealed)
        self.opened = (header.bytes + clear, plain)
        self.responses[cookie] = (data, keys, self.opened)

    def _accepted(self, data, header):
        if self.accepted is not None:
            require(self.accepted == data, "message 4 repeated with other bytes (S-12)")
            self.opened = self.accepted_opened
            return
        accept_random, sealed = header.body[1:17], header.body[17:]
        for _, keys, _ in self.responses.values():
            plain = p.aead_open(keys.k4(accept_random), ZERO_NONCE, sealed, header.bytes + header.body[:17])
            if plain is not None:
                break
        else:
            raise Malformed("message 4 opens under no message 3")
        (connection_id, self.snapshots.session_tick, mtu_hint, tick_rate, self.peer_id, schema_id,
         features) = packets.parse_fields(plain, 8, 4, 2, 2, 8, 8, 4)
        self.snapshots.own_peer_id = self.peer_id
        require(connection_id == header.connection_id != 0, "connection_id (S-18)")
        require(schema_id == self.schema.id and features & ~self.offered == 0, "schema_id or features (S-15)")
        self.aes = features & AES != 0
        require(1200 <= mtu_hint <= self.sides["server"].mtu_limit, "mtu_hint (S-15)")
        require(tick_rate == self.offered_tick_rate > 0, "accepted with another tick_rate (S-39)")
        self.sides["client"].mtu_limit = mtu_hint
        keys.set_accept(accept_random, sealed)
        self._begin_epoch(keys.m0, 0)
        self.connection_id, self.accepted = connection_id, data
        self.opened = self.accepted_opened = (header.bytes + header.body[:17], plain)

    # ---- Rotation ---------------------------------------------------------------------------------

    def rekey_secret(self, secret):
        self.rekey_secrets[p.x25519_public(secret)] = secret

    def _begin_epoch(self, master, epoch):
        self.master, self.newest_epoch = master, epoch
        for role, side in self.sides.items():
            side.keys[epoch] = traffic_key(master, role, epoch)

    def _rotation(self, sender, body):
        """Checks S-25 to S-29 in the order of sending. A RekeyResponse is made before it is first sent, so the epoch
        begins here."""
        cursor = packets.Bytes(body)
        kind = cursor.uint(1)
        require((kind == 1) == (sender == "client"), f"control type {kind} from the {sender} (S-26)")
        if kind == 13:
            cursor.end("RekeyAsk")
            return
        epoch, public = cursor.uint(4), cursor.take(32)
        cursor.end("a rotation message")
        require(epoch == self.newest_epoch + 1, f"epoch {epoch} after {self.newest_epoch} (S-25)")
        if kind == 1:
            require(self.rekey_init is None, "two rotations in flight (S-27)")
            require(public in self.rekey_secrets, "the secret of this RekeyInit is not in the record")
            require(all(side.epoch == self.newest_epoch for side in self.sides.values()), "a rotation too early (S-27)")
            self.rekey_init = body
            return
        require(self.rekey_init is not None, "a RekeyResponse to nothing (S-32)")
        shared = p.x25519(self.rekey_secrets[self.rekey_init[5:]], public)
        self._begin_epoch(next_master(self.master, shared, self.rekey_init, body, epoch), epoch)
        self.rekey_init = None
        self.counts["rotations"] += 1

    # ---- Session packets --------------------------------------------------------------------------

    def _session_packet(self, sender, header, size):
        require(self.accepted, "a session packet before message 4")
        require(header.connection_id == self.connection_id, "connection_id")
        side, peer = self.sides[sender], self.sides[PEER[sender]]
        if sender == "server" and self._is_reset(header):
            self.counts["resets"] += 1
            return
        require(header.packet_seq > side.last_seq, "packet_seq does not grow (W-12)")
        require(sender == "client" or peer.last_seq > 0, "the server speaks before it heard (S-16)")
        side.last_seq = header.packet_seq
        if header.key_epoch != side.epoch & 0xFF:
            require(side.epoch < self.newest_epoch and header.key_epoch == (side.epoch + 1) & 0xFF, "key_epoch (S-25)")
            require(sender == "client" or peer.epoch > side.epoch, "the server goes first into a new epoch (S-28)")
            side.epoch += 1
        plain = p.aead_open(side.keys[side.epoch], packets.nonce(header.packet_seq, header.key_epoch), header.body,
                            header.bytes, self.aes)
        require(plain is not None, f"{sender} packet {header.packet_seq} does not open")
        self.opened = (header.bytes, plain)
        is_probe = header.type == KEEPALIVE and plain[0] & 16
        require(is_probe or size <= side.mtu_proved, f"a datagram of {size} bytes, {side.mtu_proved} are proved (M-10)")
        if header.type == PAYLOAD:
            messages, block = packets.parse_payload(plain, self.channels)
            self._acknowledge(peer, block)
            carried = []
            for message in messages:
                carried += self._message(sender, side, peer, message) or []
            side.packets[header.packet_seq] = carried
        elif header.type == KEEPALIVE:
            self.counts["keepalives"] += 1
            keepalive = packets.parse_keepalive(plain)
            self._acknowledge(peer, keepalive["block"])
            if "echo_us" in keepalive:
                require(keepalive["echo_us"] in peer.probes, "an echo of no probe")
            if "probe_us" in keepalive:
                side.probes.add(keepalive["probe_us"])
            self._path(sender, side, peer, header.packet_seq, keepalive, size)
            side.packets[header.packet_seq] = []
        else:
            require(header.type == DISCONNECT, f"packet type {header.type}")
            self.counts["disconnects"] += 1
            reason, acknowledges, _ = packets.parse_disconnect(plain)
            require(acknowledges or packets.is_reason_of(sender, reason), f"a {sender} told reason {reason} (L-17)")

    def _is_reset(self, header):
        """Checks L-8 to L-13. The decoder takes the token as the proof, as a client does."""
        return (header.type == KEEPALIVE and len(header.body) == 27 and self.reset_token is not None and
                header.body.endswith(self.reset_token))

    def _path(self, sender, side, peer, packet_seq, keepalive, size):
        if "challenge" in keepalive:
            require(sender == "server", "a path challenge from the client (M-1)")
            side.challenges.add(keepalive["challenge"])
            self.counts["path challenges"] += 1
        if "response" in keepalive:
            require(keepalive["response"] in peer.challenges, "an answer to no path challenge (M-6)")
        if keepalive["flags"] & 16:
            require(size in (1280, 1350, 1400, 1452, 1472) and size <= side.mtu_limit, f"a probe of {size} bytes (M-12)")
            side.mtu_probes[packet_seq] = size
            self.counts["mtu probes"] += 1

    def _acknowledge(self, peer, block):
        """Checks R-4 for a block about the packets of `peer`."""
        ack_seq, bitfield = block
        highest = peer.last_seq - ((peer.last_seq - ack_seq) & 0xFFFF)
        if highest < 1:
            require(block == (0, 0), f"an acknowledgement of what was never sent: {block} (R-4)")
            return
        for number in [highest] + [highest - n - 1 for n in range(32) if bitfield >> n & 1]:
            require(number in peer.packets, f"an acknowledgement of number {number}, which was not sent")
            if number not in peer.acked:
                peer.acked.add(number)
                peer.mtu_proved = max(peer.mtu_proved, peer.mtu_probes.get(number, 0))
                if peer is self.sides["server"]:
                    self.snapshots.on_acked(peer.packets[number])

    # ---- Messages ---------------------------------------------------------------------------------

    def _message(self, sender, side, peer, message):
        """Returns what a snapshot part carries, for the acknowledgement of its packet, or None."""
        engine = message.mode == "unreliable_sequenced" and message.channel == 1 and message.flags & packets.SNAPSHOT
        if message.mode.startswith("reliable") and not self._is_new(side, message):
            self.counts["resent"] += 1
            return None
        self.counts["messages"] += 1
        if message.mode == "unreliable_sequenced" and not engine:
            last = side.sequence.get(message.channel, -1)
            same = message.fragment is not None and message.fragment[1] != 0  # all fragments share one sequence (G-6)
            require(message.number == (last + (0 if same else 1)) & 0xFFFF, "sequence (R-16)")
            side.sequence[message.channel] = message.number
        if message.fragment is not None:
            return self._fragment(side, message)
        inside = message.channel in side.assemblers and side.assemblers[message.channel].inside()
        require(not inside or not message.mode.startswith("reliable"), "a message between fragments of one (G-5)")
        if message.channel == 15:
            kind = message.body[0] if message.body else 0
            require(kind >= 128 or kind in (1, 2) or 13 <= kind <= 19, f"control type {kind} is reserved (W-21)")
            if kind in (1, 2, 13):
                self._rotation(sender, message.body)
            elif kind == 14:
                require(sender == "server" and len(message.body) == 17, "a reset token (L-9)")
                require(self.reset_token in (None, message.body[1:]), "a second reset token (L-9)")
                self.reset_token = message.body[1:]
            elif kind == 15:
                of_channel, credit = packets.read_credit(message.body, self.channels)
                credits = self.sides[PEER[sender]].credits
                credits[of_channel] = max(credit, credits.get(of_channel, WINDOW))
                self.counts["credits"] += 1
            elif kind < 128:
                require("bulk" in self.channels.values(), "a transfer without a bulk channel (B-2)")
                self.transfers.on_control(sender, message.body)
                self.counts["transfer messages"] += 1
        if message.mode == "bulk":
            self.transfers.on_chunk(sender, message.body)
            self.counts["chunks"] += 1
        if message.flags & packets.RPC:
            self.counts["rpcs"] += 1
            network_id = read_rpc(self.schema, self.snapshots.objects, message, sender == "client")[0]
            if sender == "server" and message.channel in (2, 3):
                self.reliable_rpcs[network_id] = self.reliable_rpcs.get(network_id, 0) + 1
        if not engine:
            return None
        return self._engine_message(sender, side, message)

    def _fragment(self, side, message):
        self.counts["fragments"] += 1
        assembler = side.assemblers.setdefault(message.channel, Assembler())
        body = assembler.add(message)
        if body is not None:
            self.counts["fragmented"] += 1
            side.long.append((message.channel, p.sha256(body).hex()))

    def long(self, record):
        """Takes a message that was sent whole: it has come, or will come, in fragments."""
        self.expected_long.setdefault(record["long"], []).append((record["channel"], record["sha256"]))

    def _engine_message(self, sender, side, message):
        tick = int.from_bytes(message.body[:4], "little")
        last = side.sequence.get("engine", -1)
        same_send = tick == side.engine_tick and message.number == last
        require(same_send or message.number == (last + 1) & 0xFFFF, "sequence of engine traffic (R-16)")
        side.sequence["engine"], side.engine_tick = message.number, tick
        if sender == "server":
            return self.snapshots.read(message.body)
        self.lead, inputs = read_inputs(self.schema.input, message.body)
        for tick, state in inputs.items():
            require(self.inputs.setdefault(tick, state) == state, f"two different inputs for tick {tick} (D-21)")
        self.counts["inputs"] += 1
        return None

    def _is_new(self, side, message):
        """Checks that each message_id has one body, and that ids are first sent in order (R-12 to R-14)."""
        expected = side.next_id.get(message.channel, 0)
        number = expected + ((message.number - expected + 0x8000) & 0xFFFF) - 0x8000
        key = (message.channel, number)
        content = (message.flags & ~packets.ELIDED, message.fragment, message.body)
        if number < expected:
            window = side.credits.get(message.channel, WINDOW)
            require(expected - number <= window, "a retransmission from before the window (R-14)")
            require(side.messages[key] == content, f"message {key} sent again with another body")
            return False
        require(number == expected, f"message_id {number} instead of {expected} (R-13)")
        side.messages[key] = content
        side.next_id[message.channel] = expected + 1
        return True

    # ---- The end ----------------------------------------------------------------------------------

    def end(self, record):
        """Compares with the states at the end of the recording."""
        live = self.snapshots.live()
        for network_id, thing in live.items():
            has_rest = thing.shown is None or thing.rested == thing.states[thing.shown]
            require(has_rest or not thing.has_changed, f"object {network_id} was never said to rest (D-17)")
        for network_id, thing in self.snapshots.objects.items():
            if network_id not in live:
                seen, named = self.reliable_rpcs.get(network_id, 0), sum(thing.rpc_counts)
                require(named == seen, f"removals of {network_id} name {named} RPCs of {seen} (D-35)")
                self.counts["removals with rpcs"] += 1 if seen else 0
        for sender, messages in self.expected_long.items():
            require(sorted(messages) == sorted(self.sides[sender].long), f"the long messages of the {sender} (G-11)")
        require(self.counts["credits"], "a credit, which the bursts of the recording bring about (R-36)")
        newest, view, snapshot = self.inputs[max(self.inputs)]
        require([content_text(c) for c in newest] == list(map(_content, record["newest_input"])), "the newest input")
        sight = [(view or 0) >> 8 & 0xFFFFFFFF, (view or 0) & 255, (snapshot or 0) & 0xFFFFFFFF, self.lead]
        require(sight == record["newest_sight"], f"the newest sight {sight}")
        self._compare_all(record["objects"])

    def truth(self, record):
        """Compares what a snapshot said: its entries, what it confirms (D-40), or everything, if nothing waits."""
        tick, live = record["truth"], self.snapshots.live()
        if record.get("all"):
            self.counts["sets compared"] += 1
            self._compare_all(record["objects"])
            return
        for expected in record["objects"]:
            thing = live.get(expected["id"])
            if thing and thing.said == tick:
                self.counts["entries compared"] += 1
                self._compare(thing, expected)
            elif thing and expected["owner"] == self.peer_id and self.snapshots.confirmed_own_tick == tick:
                self.counts["own compared"] += 1
                self._compare(thing, expected)

    def _compare_all(self, objects):
        live = self.snapshots.live()
        require(sorted(live) == sorted(o["id"] for o in objects), "the objects that live")
        for expected in objects:
            self._compare(live[expected["id"]], expected)

    def _compare(self, thing, expected):
        require(thing.type_id == expected["type_id"], f"type of object {expected['id']}")
        require(thing.info == (expected["owner"], expected["mode"], expected["authority_tick"]),
                f"owner of object {expected['id']}")
        state = [content_text(c) for c in thing.states[thing.shown]]
        require(state == list(map(_content, expected["state"])), f"state of object {expected['id']}")


def _content(text):
    """Reads one content. A full rotation is written in hex, because it is wider than a word."""
    return str(int(text[2:], 16)) if text.startswith("q:") else text


def decode(path, say):
    """Decodes the file. Raises Malformed, which names the line and the side."""
    with open(path, encoding="utf-8") as lines:
        session = Session(json.loads(next(lines)))
        ended = False
        for number, line in enumerate(lines, 2):
            record = json.loads(line)
            try:
                if "end" in record:
                    session.end(record)
                    ended = True
                elif "rekey_secret" in record:
                    session.rekey_secret(bytes.fromhex(record["rekey_secret"]))
                elif "long" in record:
                    session.long(record)
                elif "truth" in record:
                    session.truth(record)
                else:
                    session.datagram(record["from"], bytes.fromhex(record["datagram"]))
            except Malformed as error:
                raise Malformed(f"line {number} ({record.get('from', 'states')}): {error}") from error
    require(session.accepted, "no handshake in the file")
    entries = session.snapshots.counts
    say(", ".join(f"{value} {name}" for name, value in session.counts.items()))
    say("snapshots: " + ", ".join(f"{value} {name}" for name, value in entries.items()))
    say("everything explained" + ("; final states agree" if ended else "; no final states to compare"))
