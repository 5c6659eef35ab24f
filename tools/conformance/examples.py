"""Decodes the byte examples that docs/spec prints, and compares them with the meaning that the text gives."""

import pathlib
import re

import packets
import placed
import primitives
import snapshots
import state
import transfers
from fragments import Assembler
from packets import Malformed, require

THREE_BOOLS = {"members": [{"name": n, "type": "bool", "encoding": "default", "flags": 0} for n in "abc"]}
COMMAND = {"name": "I", "members": [{"name": "x", "type": "uint16", "encoding": "default", "flags": 0},
                                    {"name": "jump", "type": "bool", "encoding": "default", "flags": 0}]}
SCHEMA = {"types": [{"type_id": 7, "name": "T", "behaviours": [{"name": "B", "structure": THREE_BOOLS}],
                     "rpcs": [{"rpc_id": 300, "name": "r", "channel": 3, "target": 0, "owner_only": 0, "delivery": 0,
                               "arguments": None}]}],
          "input": {"name": "I", "structure": COMMAND}}
NO_ACK = "e00018000000000000"  # put in front of an example that shows a message without its packet


def messages(text):
    found, block = packets.parse_payload(bytes.fromhex(text), packets.BUILT_IN_CHANNELS)
    return [(m.channel, m.flags, m.number, m.body) for m in found], block


def whole(*texts):
    """Returns the message that fragments make, and the values that are equal in all of them."""
    assembler, body, seen = Assembler(unit=None), None, []
    for text in texts:
        found, _ = packets.parse_payload(bytes.fromhex(NO_ACK + text), packets.BUILT_IN_CHANNELS)
        seen.append((found[0].channel, found[0].number, found[0].fragment))
        body = assembler.add(found[0])
    return body, seen[0], seen[-1]


def chunk(text):
    channels = {**packets.BUILT_IN_CHANNELS, 13: "bulk"}
    found, _ = packets.parse_payload(bytes.fromhex(NO_ACK + text), channels)
    return transfers.parse_chunk(found[-1].body)


def component(**member):
    return state.Component({"encoding": "default", "bits": 0, "flags": 0, **member}, 0)


def snapshot(text):
    """What the part says of slot 2, which was empty, and of slot 5, which had object 9."""
    world = snapshots.Snapshots(state.Schema(SCHEMA, packets.BUILT_IN_CHANNELS))
    world.slots[5] = world.objects[9] = there = snapshots.Object(5, 9, 7)
    there.is_there, there.is_full_acked, there.shown = True, True, 900
    world.read(bytes.fromhex(text))
    here = world.slots[2]
    return here.network_id, here.type_id, here.info, here.states, there.is_there, there.removed_tick, there.rpc_counts


def rpc(text):
    schema = state.Schema(SCHEMA, packets.BUILT_IN_CHANNELS)
    message = packets.Message()
    message.channel, message.body = 3, bytes.fromhex(text)
    return state.read_rpc(schema, {3: snapshots.Object(2, 3, 7)}, message, True)


LAMPS = [bytes.fromhex(text) for text in ("0507a0", "0907c0")]


def placed_summary():
    return placed.read_placed(state.Schema(SCHEMA, packets.BUILT_IN_CHANNELS), LAMPS)[1]


def placed_delta(text):
    world = snapshots.Snapshots(state.Schema(SCHEMA, packets.BUILT_IN_CHANNELS))
    world.place(placed.read_placed(world.schema, LAMPS)[0])
    world.read(bytes.fromhex(text))
    return world.slots[1].network_id, world.slots[1].states


def bits_of(text, *fields):
    cursor = state.Bits(bytes.fromhex(text))
    values = [cursor.bits(n) if n > 0 else cursor.scalar(-n) for n in fields]  # a negative n stands for a scalar
    cursor.end()
    return values


def inputs(text):
    return state.read_inputs(state.Schema(SCHEMA, packets.BUILT_IN_CHANNELS).input, bytes.fromhex(text))


def header(text):
    h = packets.Header(bytes.fromhex(text))
    return h.type, h.connection_id, h.key_epoch, h.packet_seq


def opened(text, aes):
    associated = bytes.fromhex("4c54000101887766554433221101ac02")
    return primitives.aead_open(bytes(range(32)), packets.nonce(300, 1), bytes.fromhex(text), associated, aes)


def rotation(text):
    return component(type="quaternion").read(state.Bits(bytes.fromhex(text)), 0)


def steps(low, high, precision):
    return component(type="float", quant=[[low, high, precision]]).text.split()[1::3]


def angle(quant, *values):
    made = component(type="float", flags=state.ANGLE, **({"quant": [quant]} if quant else {}))
    return made.text.split()[1::3], [made.code(v) for v in values]


def fragment_of(text):
    found, _ = packets.parse_payload(bytes.fromhex(NO_ACK + text), packets.BUILT_IN_CHANNELS)
    return found[0].channel, found[0].number, found[0].fragment, found[0].body


FRAGMENT_BODIES = ("000c667261", "000c676d65", "00086e74")

# (page, bytes as printed with spaces removed, the function that reads them, the expected result)
PRINTED = [
    *[("wire.md", text, lambda t: packets.read_varint(iter(bytes.fromhex(t)).__next__), value)
      for text, value in (("7f", 127), ("8001", 128), ("ac02", 300), ("808001", 16384), ("ff" * 7 + "7f", 2**56 - 1),
                          ("80" * 8 + "01", 2**56), ("ff" * 9, 2**64 - 1))],
    ("wire.md", "4c54000101887766554433221101ac02", header, (1, 0x1122334455667788, 1, 300)),
    ("wire.md", "080706050403020100000001", lambda t: packets.nonce(0x0102030405060708, 1).hex(),
     "080706050403020100000001"),
    ("wire.md", "507185f52e8ac51add28e75410cb6517e7bf", lambda t: opened(t, False), b"hi"),
    ("wire.md", "b0c9035690b2b1706987ea97a3d168139104", lambda t: opened(t, True), b"hi"),
    ("wire.md", "1407000008abcd", lambda t: messages(NO_ACK + t)[0], [(1, 4, 7, b"\xab\xcd")]),
    ("wire.md", "30020112040b00000000086869", messages, ([(3, 0, 0x102, b"hi")], (1042, 11))),
    ("wire.md", "3803010008686f", lambda t: messages("30020112040b00000000086869" + t)[0][1], (3, 8, 0x103, b"ho")),
    ("wire.md", "e0001812040b000000", messages, ([], (1042, 11))),
    ("wire.md", "e00018000000000000ef0000", messages, ([], (0, 0))),
    ("wire.md", NO_ACK, messages, ([], (0, 0))),
    ("wire.md", "21090012040b0000000500010300080102", messages, ([(2, 1, 9, b"\1\2")], (1042, 11))),
    *[("fragmentation.md", text, fragment_of, value)
      for text, value in (("0105000003000c667261", (0, None, (5, 0, 3), b"fra")),
                          ("11070005000203" + "00086e74", (1, 7, (5, 2, 3), b"nt")),
                          ("290a0005000103000c676d65", (2, 10, (5, 1, 3), b"gme")),
                          ("010000ff0000042e", (0, None, (0, 255, 256), b".")),
                          ("0106000001" + "00086869", (0, None, (6, 0, 1), b"hi")))],
    ("transfer.md", "10010000127a00000000006d6170", lambda t: transfers.parse_control(bytes.fromhex(t)),
     {"kind": 16, "id": 1, "size": 8_000_000, "label": b"map"}),
    ("transfer.md", "100200010000000000000000ff", lambda t: transfers.parse_control(bytes.fromhex(t)),
     {"kind": 16, "id": 2, "size": 1, "label": b"\0\xff"}),
    ("transfer.md", "110100", lambda t: transfers.parse_control(bytes.fromhex(t)), {"kind": 17, "id": 1}),
    ("transfer.md", "12010001", lambda t: transfers.parse_control(bytes.fromhex(t)), {"kind": 18, "id": 1, "held": 1}),
    ("transfer.md", "1301000100", lambda t: transfers.parse_control(bytes.fromhex(t)),
     {"kind": 19, "id": 1, "side": 1, "reason": 0}),
    ("transfer.md", "d000180100ac02aabb", lambda t: chunk(t), {"id": 1, "offset": 300, "bytes": b"\xaa\xbb"}),
    ("data.md", "bffc", lambda t: bits_of(t, 3, 1, 10), [5, 1, 0x3FF]),
    ("data.md", "a34120", lambda t: bits_of(t, 4, -16), [0xA, 0x1234]),
    ("data.md", "0000803f", lambda t: bits_of(t, -32), [0x3F800000]),
    ("data.md", "dff7fdff", lambda t: rotation(t) == component(type="quaternion").zero, True),
    ("data.md", "368da368", lambda t: [rotation(t) >> 30, rotation(t) & 1023], [0, 872]),
    ("data.md", "1ff7fffe", lambda t: [rotation(t) >> 30, rotation(t) & 1023], [0, 1022]),
    ("data.md", "e803000000" + "20010207003a01c0d0" + "40010500", snapshot,
     (3, 7, (0, 0, 0), {1000: [0, 1, 0]}, False, 1000, [0])),
    ("data.md", "e803000000" + "80010200090001" + "20010207003a01c0d0", snapshot,
     (3, 7, (0, 0, 0), {1000: [0, 1, 0]}, True, None, [])),
    ("data.md", "e903000000" + "0001000120", placed_delta, (2, {1001: [1, 0, 1]})),
    ("handshake.md", "15242014ac913e99", lambda t: placed_summary()[3] == int.from_bytes(bytes.fromhex(t), "little"), True),
    ("data.md", "e80300000308c1270b" + "34129931a89120", inputs, (8, {1000: ([0x1234, 1], 980 * 256 + 64, 990), 999: ([0x1234, 1], 979 * 256 + 66, 990),
         998: ([0x1235, 1], 979 * 256 + 66, 988)})),
    ("data.md", "03ac02e803000000", rpc, (3, 300, None, [])),
]
COMPUTED = [
    (lambda: Assembler().add(packets.parse_payload(bytes.fromhex(NO_ACK + "010000000100086869"),
                                                   packets.BUILT_IN_CHANNELS)[0][0]), b"hi"),
    *[(lambda head=head: whole(*(prefix + body for prefix, body in zip(head, FRAGMENT_BODIES))), result)
      for head, result in ((("0105000003", "0105000103", "0105000203"),
                            (b"fragment", (0, None, (5, 0, 3)), (0, None, (5, 2, 3)))),
                           (("11070005000003", "11070005000103", "11070005000203"),
                            (b"fragment", (1, 7, (5, 0, 3)), (1, 7, (5, 2, 3)))),
                           (("29090005000003", "290a0005000103", "290b0005000203"),
                            (b"fragment", (2, 9, (5, 0, 3)), (2, 11, (5, 2, 3)))))],
    (lambda: placed_summary()[:3], (2, 14, 106)),
    (lambda: steps(-512.0, 512.0, 0.01), ["17", "102400"]),
    (lambda: steps(-1.0, 1.0, 1 / 512), ["11", "1024"]),
    (lambda: steps(0.0, 1.0, 1 / 255), ["8", "255"]),
    (lambda: steps(0.0, 10.0, 3.0), ["3", "4"]),
    (lambda: angle(None, 0.0, state.PI, -state.PI, 3.0, 4.0), (["16", "65536"], [32768, 0, 0, 64059, 8954])),
    (lambda: angle([0.0, 360.0, 1.0], 0.0, 359.5, 359.4, -90.0, 765.0), (["9", "360"], [0, 0, 359, 270, 45])),
    (lambda: [state.decimal_text(v) for v in (-1.0, 0.001, 1e6, -4096.0)], ["-1", "0.001", "1e+06", "-4096"]),
]


def check(folder):
    """Returns how many examples agree. Raises Malformed at the first that does not."""
    pages = {path.name: re.sub(r"[^\S\n]", "", path.read_text(encoding="utf-8"))
             for path in pathlib.Path(folder).glob("*.md")}
    for page, text, read, expected in PRINTED:
        require(text in pages[page], f"{page} does not print {text}")
        try:
            found = read(text)
        except Malformed as error:
            raise Malformed(f"{page}, {text}: {error}") from error
        require(found == expected, f"{page}, {text}: {found} instead of {expected}")
    for compute, expected in COMPUTED:
        require(compute() == expected, f"data.md: {compute()} instead of {expected}")
    return len(PRINTED) + len(COMPUTED)
