"""The bytes outside bit-packed bodies: varints, the outer header, tokens, handshake bodies, framing (docs/spec/wire.md,
handshake.md). Every function raises Malformed at the first byte that the specification does not explain."""

import hashlib


class Malformed(Exception):
    pass


def read_credit(body, modes):
    """The channel and the messages of a Credit (R-34). `modes` maps a channel to its mode."""
    require(len(body) == 4, "a Credit of another length (R-34)")
    channel, messages = body[1], int.from_bytes(body[2:], "little")
    require(channel != 15 and modes.get(channel, "").startswith("reliable"), f"a credit for channel {channel} (R-34)")
    require(256 <= messages <= 8192, f"a credit of {messages} (R-34)")
    return channel, messages


def require(condition, what):
    if not condition:
        raise Malformed(what)


PROTOCOL_ID = bytes.fromhex("4c540001")
HANDSHAKE, PAYLOAD, KEEPALIVE, DISCONNECT, RESPONSE = range(5)
TAG = 16


class Bytes:
    """A cursor over bytes; little-endian."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n, what="field"):
        require(self.at + n <= len(self.data), f"{what} is cut short")
        self.at += n
        return self.data[self.at - n:self.at]

    def uint(self, n, what="field"):
        return int.from_bytes(self.take(n, what), "little")

    def varint(self, what="varint"):
        return read_varint(lambda: self.uint(1, what))

    def rest(self):
        return self.take(len(self.data) - self.at)

    def left(self):
        return len(self.data) - self.at

    def end(self, what):
        require(self.left() == 0, f"{self.left()} bytes behind the end of {what}")


def read_varint(next_byte):
    value = 0
    for group in range(8):
        byte = next_byte()
        value |= (byte & 0x7F) << (7 * group)
        if byte < 0x80:
            require(group == 0 or byte != 0, "varint is not minimal (W-4)")
            return value
    byte = next_byte()
    require(byte != 0, "varint is not minimal (W-4)")
    return value | byte << 56


def write_varint(value):
    out = bytearray()
    for _ in range(8):
        if value < 0x80:
            out.append(value)
            return bytes(out)
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def is_text(data):
    """True when the bytes are a text (W-26)."""
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


FORBIDDEN_IN_REASONS = ((0x00, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200B, 0x200F), (0x2028, 0x202E),
                        (0x2060, 0x2069), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB))


def is_reason_text(data):
    """W-29."""
    return is_text(data) and not any(first <= ord(c) <= last for c in data.decode("utf-8")
                                     for first, last in FORBIDDEN_IN_REASONS)


# ---- Outer header ---------------------------------------------------------------------------------


class Header:
    def __init__(self, datagram):
        cursor = Bytes(datagram)
        require(cursor.take(4) == PROTOCOL_ID, "protocol_id is not 1.0")
        self.type = cursor.uint(1)
        require(self.type <= 4, f"packet type {self.type}")
        self.connection_id = cursor.uint(8)
        self.key_epoch = cursor.uint(1)
        self.packet_seq = cursor.varint("packet_seq")
        self.bytes = datagram[:cursor.at]
        self.body = datagram[cursor.at:]


def write_header(packet_type, connection_id=0, key_epoch=0, packet_seq=0):
    return (PROTOCOL_ID + bytes([packet_type]) + connection_id.to_bytes(8, "little") + bytes([key_epoch]) +
            write_varint(packet_seq))


def nonce(packet_seq, key_epoch):
    return packet_seq.to_bytes(8, "little") + bytes(3) + bytes([key_epoch])


# ---- Token and handshake bodies -------------------------------------------------------------------

TOKEN_DOMAIN = {1: b"lattice/v1/connect-token", 2: b"lattice/v1/relay-token"}


def parse_token(data):
    cursor = Bytes(data)
    token = {}
    require(cursor.take(4) == b"LTK1", "token magic")
    token["kind"], token["role"], n = cursor.uint(1), cursor.uint(1), cursor.uint(2)
    require(token["kind"] in (1, 2) and token["role"] in (1, 2), "token kind or role (S-4)")
    require(n <= 256 and len(data) == 224 + n, "token length (S-4)")
    token["issuer_key_id"], token["token_id"] = cursor.take(8), cursor.take(16)
    token["protocol_id"] = cursor.take(4)
    require(cursor.take(4) == bytes(4), "token bytes at 36 (S-4)")
    for name in ("schema_id", "issued", "expires"):
        token[name] = cursor.uint(8)
    require(0 <= token["expires"] - token["issued"] <= 3600, "token lifetime (S-5)")
    token["aud"], token["cnf"] = cursor.take(32), cursor.take(32)
    token["player"], token["session"] = cursor.take(16), cursor.take(16)
    token["user_data"] = cursor.take(n)
    token["signature"] = cursor.take(64)
    cursor.end("the token")
    token["signed"] = TOKEN_DOMAIN[token["kind"]] + data[:160 + n]
    return token


def parse_request(datagram, body):
    require(len(datagram) == 1200, "a ConnectionRequest takes 1200 bytes")
    cursor = Bytes(body)
    require(cursor.uint(1) == 1, "message type")
    client = cursor.take(32)
    token = cursor.take(cursor.uint(2), "token")
    require(not any(cursor.rest()), "padding is not zero")
    return client, token


def token_echo(token):
    return hashlib.sha256(token).digest()[:8]


def parse_challenge(body, token):
    cursor = Bytes(body)
    require(cursor.uint(1) == 2, "message type")
    require(cursor.take(8) == token_echo(token), "the Challenge is for another token (S-18)")
    challenge = (cursor.take(32), cursor.take(16), cursor.uint(1))
    cursor.end("Challenge")
    return challenge


def parse_response(body):
    """Returns (C_pub, nonce, key_index, token, clear part, sealed part)."""
    cursor = Bytes(body)
    client, cookie, key_index = cursor.take(32), cursor.take(16), cursor.uint(1)
    token = cursor.take(cursor.uint(2), "token")
    clear = body[:cursor.at]
    require(cursor.left() == 80 + TAG, "length of ChallengeResponse")
    return client, cookie, key_index, token, clear, cursor.rest()


def parse_fields(data, *widths):
    cursor = Bytes(data)
    values = [cursor.take(w) if isinstance(w, int) and w >= 16 else cursor.uint(w) for w in widths]
    cursor.end("the sealed part")
    return values


SCHEMA_PAGE, SCHEMA_PAGES, SCHEMA_MISMATCH = 256, 256, 7


def parse_refusal(data):
    """(reason, schema_id, text) and the page of the schema, (page, pages, bytes) or None (S-44)."""
    cursor = Bytes(data)
    reason, schema_id = cursor.uint(2), cursor.uint(8)
    text = cursor.take(cursor.uint(1), "text")
    require(len(text) <= 64 and is_reason_text(text), "text (S-9)")
    if cursor.left() == 0:
        return (reason, schema_id, text), None
    page, pages, told = cursor.uint(2), cursor.uint(2), cursor.rest()
    require(reason == SCHEMA_MISMATCH and page < pages <= SCHEMA_PAGES, "page of a schema (S-44)")
    is_last = page == pages - 1
    require(len(told) == SCHEMA_PAGE or (is_last and 0 < len(told) < SCHEMA_PAGE), "length of a page (S-44)")
    return (reason, schema_id, text), (page, pages, told)


# ---- Session bodies -------------------------------------------------------------------------------

FRAGMENT, RPC, SNAPSHOT, ELIDED = 1, 2, 4, 8
PADDING = 0xEF
BUILT_IN_CHANNELS = {0: "unreliable", 1: "unreliable_sequenced", 2: "reliable_unordered", 3: "reliable_ordered",
                     14: "ack", 15: "reliable_ordered"}


class Message:
    def __init__(self):
        self.channel = self.flags = 0
        self.mode = ""
        self.number = None  # message_id or sequence
        self.fragment = None  # (group, index, count)
        self.body = b""


def parse_payload(plaintext, channels):
    """Returns the messages of a Payload and its one acknowledgement block (W-17, W-18)."""
    cursor = Bytes(plaintext)
    messages, block = [], None
    while cursor.left():
        message = Message()
        first = cursor.uint(1)
        if first == PADDING:
            require(not any(cursor.rest()), "padding (W-30)")
            break
        message.channel, message.flags = first >> 4, first & 15
        require(message.channel in channels, f"channel {message.channel} is not declared")
        message.mode = channels[message.channel]
        reliable = message.mode.startswith("reliable")
        require(reliable or not message.flags & ELIDED, "ack_elided on a channel that is not reliable")
        require(message.mode != "ack" or message.flags == 0, "flags on channel 14")
        require(message.mode != "bulk" or message.flags == 0, "flags on a bulk channel (B-1)")
        if message.mode == "unreliable_sequenced" or reliable:
            message.number = cursor.uint(2, "number")
        if reliable and not message.flags & ELIDED:
            require(not messages and block is None, "a second acknowledgement block, or one that is not first (W-18)")
            block = (cursor.uint(2), cursor.uint(4))
        if message.flags & FRAGMENT:
            group, index, count = cursor.uint(2, "group"), cursor.uint(1, "index"), cursor.uint(1, "count") or 256
            require(index < count, "fragment index (W-17)")
            message.fragment = (group, index, count)
        packed = int.from_bytes(cursor.take(2, "length"), "big")
        require(packed & 3 == 0, "bits behind the length")
        message.body = cursor.take(packed >> 2, "body")
        if message.mode != "ack":
            require(block is not None, "a message before the acknowledgement block (W-18)")
            messages.append(message)
            continue
        require(len(message.body) in (6, 8) and block is None and not messages, "ack message (W-18, W-19)")
        body = Bytes(message.body)
        block = (body.uint(2), body.uint(4))
    require(block is not None, "no acknowledgement block")
    return messages, block


def parse_keepalive(plaintext):
    cursor = Bytes(plaintext)
    flags = cursor.uint(1)
    require(flags < 64, f"keepalive flags {flags} (W-22)")
    require(not flags & (1 | 16) or flags & 32, "a probe that does not ask for an ack")
    keepalive = {"flags": flags, "block": (cursor.uint(2), cursor.uint(4)), "tick": cursor.uint(4)}
    if flags & 1:
        keepalive["probe_us"] = cursor.uint(8)
    if flags & 2:
        keepalive["echo_us"], keepalive["echo_delay_us"] = cursor.uint(8), cursor.uint(4)
    if flags & 4:
        keepalive["challenge"] = cursor.take(8)
    if flags & 8:
        keepalive["response"] = cursor.take(8)
    require(not any(cursor.rest()), "keepalive padding (W-22)")
    return keepalive


APPLICATION_REASON, PROTOCOL_ERROR = 256, 10
REASONS_OF_A_CLIENT = (0, 1, 10, 11, 12)
REASONS_OF_A_SERVER = (0, 1, *range(3, 15))


def is_reason_of(teller, reason):
    """Whether the client or the server may tell this reason (L-15, L-17)."""
    known = REASONS_OF_A_CLIENT if teller == "client" else REASONS_OF_A_SERVER
    return reason >= APPLICATION_REASON or reason in known


def parse_disconnect(plaintext):
    cursor = Bytes(plaintext)
    reason, flags = cursor.uint(2), cursor.uint(1)
    text = cursor.take(cursor.uint(1), "text")
    cursor.end("Disconnect")
    require(flags <= 1 and len(text) <= 64 and is_reason_text(text), "Disconnect (W-24)")
    return reason, flags, text
