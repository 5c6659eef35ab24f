"""Lists every field of an opened datagram in the order of its bytes, with the names and the form in which
tools/wireshark/lattice.lua shows them. Written from docs/spec, independently of the dissector and the decoder, so that
a comparison of the three has meaning.

A field is (name without "lattice.", value): numbers in decimal, ids and masks in hexadecimal, bytes as a:b:c."""

from packets import BUILT_IN_CHANNELS, HANDSHAKE, KEEPALIVE, PADDING, PAYLOAD, RESPONSE, TAG, Bytes, read_varint, require
from snapshot_fields import snapshot

DECIMAL, HEX, BYTES, TEXT, LINES = "d", "x", "b", "t", "l"

TOKEN = [("magic", 4, TEXT), ("kind", 1, DECIMAL), ("role", 1, DECIMAL), ("user_data_length", 2, DECIMAL),
         ("issuer_key_id", 8, BYTES), ("token_id", 16, BYTES), ("protocol_id", 4, BYTES), ("reserved", 4, BYTES),
         ("schema_id", 8, HEX), ("issued", 8, DECIMAL), ("expires", 8, DECIMAL), ("aud", 32, BYTES), ("cnf", 32, BYTES),
         ("player", 16, BYTES), ("session", 16, BYTES)]
CHALLENGE = [("token_echo", 8, BYTES), ("bucket_key", 32, BYTES), ("challenge_nonce", 16, BYTES), ("key_index", 1, DECIMAL)]
RESPONSE_CLEAR = [("client_key", 32, BYTES), ("challenge_nonce", 16, BYTES), ("key_index", 1, DECIMAL)]
RESPONSE_SEALED = [("challenge_nonce", 16, BYTES), ("token_id", 16, BYTES), ("schema_id", 8, HEX), ("features", 4, HEX),
                   ("max_datagram", 2, DECIMAL), ("tick_rate", 2, DECIMAL), ("max_objects", 4, DECIMAL),
                   ("placed_count", 4, DECIMAL), ("placed_key_sum", 8, HEX), ("placed_key_squares", 8, HEX),
                   ("placed_digest", 8, HEX)]
ACCEPTED_SEALED = [("connection_id", 8, HEX), ("server_tick", 4, DECIMAL), ("mtu_hint", 2, DECIMAL),
                   ("tick_rate", 2, DECIMAL), ("peer_id", 8, DECIMAL), ("schema_id", 8, HEX), ("features", 4, HEX)]
DENIED = [("reason", 2, DECIMAL), ("protocol_id", 4, BYTES)]
MESSAGE_FLAGS = [("is_fragment", 1), ("is_rpc", 2), ("is_snapshot", 4), ("ack_elided", 8)]
KEEPALIVE_FLAGS = [("has_probe", 1), ("has_echo", 2), ("has_challenge", 4), ("has_response", 8), ("is_mtu_probe", 16),
                   ("asks_for_ack", 32)]


def colons(data):
    return ":".join(f"{byte:02x}" for byte in data)


class Reader:
    """A reader that adds each field it reads to `found`."""

    def __init__(self, data, found, prefix=""):
        self.cursor, self.found, self.prefix = Bytes(data), found, prefix

    def add(self, name, value):
        self.found.append((self.prefix + name, str(value)))

    def take(self, name, n, form):
        data = self.cursor.take(n, name)
        value = int.from_bytes(data, "little")
        if form == BYTES:
            if n:
                self.add(name, colons(data))
            return data
        if form == TEXT:
            if n:
                self.add(name, data.decode())
            return data
        if form == LINES:  # the XML of tshark has a space for each tab and line feed
            if n:
                self.add(name, " ".join(data.decode().replace("\t", "\n").split("\n")))
            return data
        self.add(name, f"0x{value:0{2 * n}x}" if form == HEX else value)
        return value

    def all(self, layout, prefix=None):
        before, self.prefix = self.prefix, self.prefix if prefix is None else prefix
        values = {name: self.take(name, n, form) for name, n, form in layout}
        self.prefix = before
        return values

    def varint(self, name):
        value = self.cursor.varint(name)
        self.add(name, value)
        return value

    def flags(self, layout, value):
        for name, bit in layout:
            self.add(name, int(bool(value & bit)))

    def rest(self, name):
        return self.take(name, self.cursor.left(), BYTES)


def datagram(data, is_opened, from_server, modes=BUILT_IN_CHANNELS):
    """`data` is the header, the clear part, and either the plaintext (`is_opened`) or the sealed part."""
    found = []
    r = Reader(data, found)
    r.take("protocol_id", 4, BYTES)
    kind = r.take("packet_type", 1, DECIMAL)
    r.take("connection_id", 8, HEX)
    r.take("key_epoch", 1, DECIMAL)
    r.varint("packet_seq")
    if kind == HANDSHAKE:
        _handshake(r, is_opened)
    elif kind == RESPONSE:
        r.all(RESPONSE_CLEAR, "handshake.")
        _token(r)
        _sealed(r, is_opened, RESPONSE_SEALED)
    elif not is_opened:
        require(r.cursor.left() >= TAG, "a packet shorter than its tag (W-7)")
        r.rest("sealed")
    elif kind == PAYLOAD:
        while r.cursor.left() and r.cursor.data[r.cursor.at] != PADDING:
            _message(r, modes, from_server)
        if r.cursor.left():
            r.rest("payload.padding")
    elif kind == KEEPALIVE:
        _keepalive(r)
    else:
        r.prefix = "disconnect."
        r.take("reason", 2, DECIMAL)
        r.take("flags", 1, DECIMAL)
        r.take("text", r.take("text_length", 1, DECIMAL), TEXT)
    require(r.cursor.left() == 0, "bytes behind the fields")
    return found


def _sealed(r, is_opened, layout):
    if is_opened:
        r.all(layout, "handshake.")
    else:
        r.rest("sealed")


def _token(r):
    n = r.all([("token_length", 2, DECIMAL)], "handshake.")["token_length"]
    user_bytes = r.all(TOKEN, "token.")["user_data_length"]
    require(n == 224 + user_bytes, "token length")
    r.all([("user_data", user_bytes, BYTES), ("signature", 64, BYTES)], "token.")


def _handshake(r, is_opened):
    message = r.all([("message", 1, DECIMAL)], "handshake.")["message"]
    if message == 1:
        r.all([("client_key", 32, BYTES)], "handshake.")
        _token(r)
        r.rest("handshake.padding")
    elif message == 2:
        r.all(CHALLENGE, "handshake.")
    elif message == 4:
        r.all(DENIED, "handshake.")
    elif message == 5:
        r.rest("handshake.rest")
    elif message == 7:
        r.all(RESPONSE_CLEAR, "handshake.")
        _token(r)
        r.all([("salt", 16, BYTES)], "handshake.")
        if is_opened:
            r.all([("schema_id", 8, HEX), ("lines", r.cursor.left() - 8, LINES)], "handshake.")
        else:
            r.rest("sealed")
    else:
        r.all([("accept_random", 16, BYTES)], "handshake.")
        if message == 6 and is_opened:
            r.prefix = "handshake."
            r.take("reason", 2, DECIMAL)
            r.take("schema_id", 8, HEX)
            r.take("text", r.take("text_length", 1, DECIMAL), TEXT)
            if r.cursor.left():
                r.all([("page", 2, DECIMAL), ("pages", 2, DECIMAL), ("page_bytes", r.cursor.left() - 4, BYTES)])
        else:
            _sealed(r, is_opened, ACCEPTED_SEALED)


def _message(r, modes, from_server):
    first = r.cursor.uint(1)
    channel, flags = first >> 4, first & 15
    r.add("message.channel", channel)
    r.prefix = "message."
    r.flags(MESSAGE_FLAGS, flags)
    r.prefix = ""
    mode = modes[channel]
    if mode == "unreliable_sequenced":
        r.take("message.sequence", 2, DECIMAL)
    if mode.startswith("reliable"):
        r.take("message.message_id", 2, DECIMAL)
        if not flags & 8:
            _block(r)
    if flags & 1:
        for name, n in (("group", 2), ("index", 1), ("count", 1)):
            r.take("fragment." + name, n, DECIMAL)
    packed = int.from_bytes(r.cursor.take(2, "length"), "big")
    r.add("message.length", packed >> 2)
    r.add("message.reserved", packed & 3)
    _body(Reader(r.cursor.take(packed >> 2, "body"), r.found), channel, mode, flags, from_server)


def _block(r):
    r.all([("seq", 2, DECIMAL), ("bitfield", 4, HEX)], "ack.")


# The fields after the type and before the rest of the message (transfer.md).
TRANSFER_FIELDS = {
    16: [("id", 2, DECIMAL), ("size", 8, DECIMAL)],
    17: [("id", 2, DECIMAL)],
    18: [("id", 2, DECIMAL), ("held", 1, DECIMAL)],
    19: [("id", 2, DECIMAL), ("side", 1, DECIMAL), ("reason", 1, DECIMAL)],
}


def _body(r, channel, mode, flags, from_server):
    if flags & 1:
        r.rest("fragment.data")
    elif mode == "ack":
        _block(r)
        if r.cursor.left():
            r.take("ack.delay", 2, DECIMAL)
    elif channel == 15:
        kind = r.take("control.type", 1, DECIMAL)
        if kind in (1, 2):
            r.all([("epoch", 4, DECIMAL), ("key", 32, BYTES)], "control.")
        elif kind == 14:
            r.take("control.reset_token", 16, BYTES)
        elif kind == 15:
            r.all([("channel", 1, DECIMAL), ("messages", 2, DECIMAL)], "control.")
        elif kind in TRANSFER_FIELDS:
            r.all(TRANSFER_FIELDS[kind], "transfer.")
        r.rest("control.data")
    elif mode == "bulk":
        r.all([("id", 2, DECIMAL)], "transfer.")
        r.varint("transfer.offset")
        r.rest("transfer.bytes")
    elif flags & 4:
        (snapshot if from_server else _inputs)(r)
    elif flags & 2:
        _rpc(r)
    else:
        r.rest("message.body")


def _inputs(r):
    r.prefix = "input."
    r.take("newest_tick", 4, DECIMAL)
    r.take("count", 1, DECIMAL)
    r.take("lead", 1, DECIMAL)
    r.varint("view_age")
    r.varint("snapshot_age")
    r.rest("values")


def _rpc(r):
    r.prefix = "rpc."
    r.varint("network_id")
    r.varint("rpc_id")
    r.take("tick", 4, DECIMAL)
    rest = r.cursor.data[r.cursor.at:]
    require(rest, "target")
    r.add("target", rest[0] >> 6)
    if rest[0] >> 6 == 3:  # the peer begins after these two bits
        bits = int.from_bytes(rest, "big") << 2 & ((1 << 8 * len(rest)) - 1)
        r.add("peer", read_varint(iter(bits.to_bytes(len(rest), "big")).__next__))
    r.rest("arguments")


def _keepalive(r):
    flags = r.cursor.uint(1)
    r.prefix = "keepalive."
    r.add("flags", f"0x{flags:02x}")
    r.flags(KEEPALIVE_FLAGS, flags)
    _block(r)
    r.take("tick", 4, DECIMAL)
    if flags & 1:
        r.take("probe_us", 8, DECIMAL)
    if flags & 2:
        r.take("echo_us", 8, DECIMAL)
        r.take("echo_delay_us", 4, DECIMAL)
    if flags & 4:
        r.take("challenge", 8, BYTES)
    if flags & 8:
        r.take("response", 8, BYTES)
    r.rest("padding")
