"""One datagram of every form the standard has, reserved ones too, for the test of the dissector."""

import json
import pathlib

import handshake
import primitives as p
from blocks import REMOVED, RESTED
from client_connection import frame, u
from packets import DISCONNECT, HANDSHAKE, KEEPALIVE, PAYLOAD, write_header
from snapshot_writer import BitWriter, block, part, pieces, progress_part, removed, rested

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "data" / "vectors" / "handshake.json"
CONNECTION_ID = 0x1122334455667788
ACCEPT_CLEAR_BYTES = 15 + 17
BULK_CHANNEL = 13
ACK = u(1042, 2) + u(0xB, 4)
NOTHING_RECEIVED = frame(14, 0, bytes(6))
FRAGMENT, RPC, SNAPSHOT, ELIDED = 1, 2, 4, 8


def forms():
    """[(sender, datagram or None, opened or None)]: `opened` as capture.of takes it."""
    return [*_handshake(), *(packet(*each) for each in _payloads() + _keepalives() + _disconnects()), *_sealed()]


def _handshake():
    with open(VECTORS, encoding="utf-8") as file:
        vectors = json.load(file)
    data = {name: bytes.fromhex(value) for name, value in vectors.items()
            if isinstance(value, str) and name != "source"}

    def opened(name, clear_bytes, key):
        clear, sealed = data[name][:clear_bytes], data[name][clear_bytes:]
        return clear, p.aead_open(key, handshake.ZERO_NONCE, sealed, clear)

    told = {name: bytes.fromhex(value) for name, value in vectors["schema_difference"].items()}
    told_clear = len(told["datagram"]) - 16 - 8 - len(vectors["inputs"]["schema_lines"])
    paged = data["connection_refused_schema_mismatch"][:ACCEPT_CLEAR_BYTES]
    response_clear = len(data["challenge_response"]) - 96
    refuse_random = bytes.fromhex(vectors["inputs"]["refuse_random"])
    refuse_key = p.hkdf_expand(data["prk"], b"lattice/v1/hs/server" + data["th3"] + refuse_random)
    denied = write_header(HANDSHAKE) + b"\x04" + u(6, 2) + bytes.fromhex("4c540101")
    return [
        ("client", data["connection_request"], None),
        ("server", data["challenge"], None),
        ("client", None, opened("challenge_response", response_clear, data["k3"])),
        ("server", None, opened("connection_accepted", ACCEPT_CLEAR_BYTES, data["k4"])),
        ("server", None, opened("connection_refused_schema_mismatch", ACCEPT_CLEAR_BYTES, refuse_key)),
        ("server", None, (paged, u(7, 2) + u(99, 8) + b"\x06schema" + u(2, 2) + u(3, 2) + b"member x bool\n")),
        ("client", None, (told["datagram"][:told_clear],
                          p.aead_open(told["k7"], handshake.ZERO_NONCE, told["datagram"][told_clear:], told["datagram"][:told_clear]))),
        ("client", told["datagram"], None),
        ("client", data["challenge_response"], None),
        ("server", data["connection_accepted"], None),
        ("server", data["connection_refused_schema_mismatch"], None),
        ("server", denied, None),
        ("client", write_header(HANDSHAKE) + b"\x05 punch", None),
    ]


def _sealed():
    return [("client", write_header(PAYLOAD, CONNECTION_ID, 3, 1 << 61) + bytes(range(40)), None)]


def packet(sender, packet_type, plaintext, number=300, epoch=1):
    return sender, None, (write_header(packet_type, CONNECTION_ID, epoch, number), plaintext)


def snapshot_bodies():
    most = 1 << 32
    full = BitWriter()  # one entry, up to its changes
    for value in (1, most - 2, most - 1, (1 << 64) - 1):  # count, slot, type_id, owner
        full.varint(value)
    full.bits(1, 2)
    full.varint(most - 1)
    full.varint(1 << 63)
    full.bits(0b101, 3)
    gone = [removed(2), removed(3, 1, 300, 5), removed(900, 0, None, most - 1), removed(901, 1, 1)]
    rest = [rested(0, 3), rested(12, 4), rested(25, 1 << 20), rested(70000, 3)]
    return [
        bytes.fromhex("e8030000 00 200102 07003a01c0d0 400105 00"),  # the example of the page
        part(7, block(None, REMOVED, gone, 4), block(None, RESTED, rest), block(None, RESTED, rest[:1], 15), keep=True),
        part(most - 1, b"\x13\x02\x05\x04\x83\x55", inputs=(most - 1, -16), confirms_own=True),  # a delta, own age 6
        part(8, b"\x20" + full.bytes(), inputs=(0, 127)),
        part(9),
        part(10, inputs=(0, 127), interval=300),
        progress_part(11, 10_000, 300),
        part(12, pieces(most - 2, 1 << 20, bytes(range(256)) * 256, 1022, 2), block(None, REMOVED, gone[:1]),
             pieces(0, 0, b"x" * 65, 1, 1), pieces(300, 0, b"y", 0, 1)),
    ]


def snapshot(body, number=1):
    """The form of a packet with one part."""
    return "server", PAYLOAD, NOTHING_RECEIVED + frame(1, SNAPSHOT, body, u(7, 2)), number


def _payloads():
    inputs = bytes.fromhex("e80300000308c1270b" + "34129931a89120")
    rpc = bytes.fromhex("03ac02e803000000")
    rpc_to_peer = bytes.fromhex("03ac02e8030000") + ((3 << 22 | 0xAC02 << 6 | 0x2A).to_bytes(3, "big"))
    control = [b"\x01" + u(1, 4) + bytes(range(32)), b"\x02" + u(2, 4) + bytes(32), b"\x0d", b"\x0e" + bytes(range(16)),
               b"\x0f\x03" + u(1024, 2), b"\x07\x01\x02", b"\x80app",
               b"\x10" + u(1, 2) + u(8_000_000, 8) + b"map", b"\x11" + u(1, 2), b"\x12" + u(1, 2) + b"\x01",
               b"\x13" + u(1, 2) + b"\x01\x00"]
    large = (1 << 62) - 1
    return [
        ("client", PAYLOAD, NOTHING_RECEIVED, 1, 0),
        ("server", PAYLOAD, NOTHING_RECEIVED + frame(0, 0, b"x") + b"\xef", 2),
        ("server", PAYLOAD, NOTHING_RECEIVED + b"\xef" + bytes(30), 2),
        ("server", PAYLOAD, frame(14, 0, ACK + u(1000, 2)), 127),
        *[snapshot(body, 128 << 7 * i) for i, body in enumerate(snapshot_bodies())],
        ("client", PAYLOAD, NOTHING_RECEIVED + frame(1, SNAPSHOT, inputs, u(9, 2)), large),
        ("client", PAYLOAD, frame(3, RPC, rpc, u(0, 2), ACK) + frame(2, RPC | ELIDED, rpc, u(1, 2))),
        ("server", PAYLOAD, frame(3, RPC, rpc_to_peer, u(0, 2), ACK)),
        ("client", PAYLOAD, frame(3, 0, b"hi", u(0x102, 2), ACK) + frame(3, ELIDED, b"ho", u(0x103, 2)) +
         frame(0, 0, b"x") + frame(1, 0, b"", u(5, 2))),
        ("client", PAYLOAD, frame(2, FRAGMENT, b"\x01\x02", u(9, 2), ACK, u(5, 2) + b"\x01\x03")),
        ("client", PAYLOAD, NOTHING_RECEIVED + frame(0, FRAGMENT, b"\x03", u(6, 2) + b"\x00\x00")),
        ("client", PAYLOAD, NOTHING_RECEIVED + frame(BULK_CHANNEL, 0, u(1, 2) + b"\xac\x02\xaa\xbb")),
        *[("client", PAYLOAD, frame(15, 0, body, u(i, 2), ACK)) for i, body in enumerate(control)],
    ]


def _keepalives():
    probe, echo = u(123_456_789_012, 8), u(1 << 63, 8) + u(4_000_000_000, 4)
    head = ACK + u(77, 4)
    return [
        ("client", KEEPALIVE, b"\x00" + head),
        ("client", KEEPALIVE, b"\x21" + head + probe),
        ("server", KEEPALIVE, b"\x23" + head + probe + echo),
        ("server", KEEPALIVE, b"\x0c" + head + b"question" + b"response"),
        ("server", KEEPALIVE, b"\x3f" + head + probe + echo + b"question" + b"response" + bytes(30)),
    ]


def _disconnects():
    text = "bye, Köln".encode()
    return [
        ("client", DISCONNECT, u(1, 2) + b"\x00" + bytes([len(text)]) + text),
        ("server", DISCONNECT, u(300, 2) + b"\x01\x00"),
    ]
