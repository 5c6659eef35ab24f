"""pcapng files of exported PDUs: the form of Lattice's captures (docs/capture.md gives the tags and names).

Supports only what such a capture uses: one section, one interface of link type 252, one Enhanced Packet Block per
datagram."""

import ipaddress
import os
import struct

LINKTYPE_WIRESHARK_UPPER_PDU = 252
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER_MAGIC = 0x1A2B3C4D
END, DISSECTOR, IPV4_SRC, IPV4_DST, IPV6_SRC, IPV6_DST, PORT_TYPE, SRC_PORT, DST_PORT = 0, 12, 20, 21, 22, 23, 24, 25, 26
PORT_TYPE_UDP = 3
AS_ON_THE_WIRE, OPENED = "lattice", "lattice_opened"


class Record:
    """One datagram: `source` and `destination` are (address text, port); `time_us` counts from any moment."""

    def __init__(self, time_us, source, destination, dissector, data):
        self.time_us, self.source, self.destination = time_us, source, destination
        self.dissector, self.data = dissector, data

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return f"{self.time_us} µs, {self.source} to {self.destination}, {self.dissector}: {self.data.hex()}"


def _padded(data):
    return data + bytes(-len(data) % 4)


def _block(kind, body):
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _tag(number, data):
    """Exported PDU tags are big-endian."""
    return struct.pack(">HH", number, len(_padded(data))) + _padded(data)


def _address_tags(source, destination):
    addresses = [ipaddress.ip_address(a[0]) for a in (source, destination)]
    numbers = (IPV4_SRC, IPV4_DST) if addresses[0].version == 4 else (IPV6_SRC, IPV6_DST)
    tags = b"".join(_tag(n, a.packed) for n, a in zip(numbers, addresses))
    tags += _tag(PORT_TYPE, struct.pack(">I", PORT_TYPE_UDP))
    return tags + b"".join(_tag(n, struct.pack(">I", a[1])) for n, a in ((SRC_PORT, source), (DST_PORT, destination)))


def write(path, records):
    # A capture is not encrypted: nobody else may read it.
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(_block(SECTION, struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1)))
        file.write(_block(INTERFACE, struct.pack("<HHI", LINKTYPE_WIRESHARK_UPPER_PDU, 0, 0)))
        for record in records:
            pdu = _tag(DISSECTOR, record.dissector.encode()) + _address_tags(record.source, record.destination)
            pdu += _tag(END, b"") + record.data
            head = struct.pack("<IIIII", 0, record.time_us >> 32, record.time_us & 0xFFFFFFFF, len(pdu), len(pdu))
            file.write(_block(PACKET, head + _padded(pdu)))


def read(path):
    """Returns the records of a file in the form that write() makes."""
    with open(path, "rb") as file:
        data = file.read()
    at, records = 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or length % 4 or struct.unpack_from("<I", data, at + length - 4)[0] != length:
            raise ValueError(f"{path}: broken block at byte {at}")
        if kind == PACKET:
            records.append(_record(data[at + 8:at + length - 4]))
        at += length
    return records


def _record(body):
    _, high, low, captured, original = struct.unpack_from("<IIIII", body)
    pdu, tags, at = body[20:20 + captured], {}, 0
    if captured != original:
        raise ValueError("a datagram was cut")
    while True:
        number, length = struct.unpack_from(">HH", pdu, at)
        tags[number] = pdu[at + 4:at + 4 + length]
        at += 4 + length
        if number == END:
            break
    ends = [(str(ipaddress.ip_address(tags[a4] if a4 in tags else tags[a6])), struct.unpack(">I", tags[port])[0])
            for a4, a6, port in ((IPV4_SRC, IPV6_SRC, SRC_PORT), (IPV4_DST, IPV6_DST, DST_PORT))]
    return Record(high << 32 | low, ends[0], ends[1], tags[DISSECTOR].rstrip(b"\0").decode(), pdu[at:])
