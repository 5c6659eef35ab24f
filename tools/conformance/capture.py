"""Turns a recorded session into a capture: every datagram, opened with the session's keys (docs/capture.md).

`lattice_decode.py capture SESSION FILE` writes the capture. Programs that need more than the file call `datagrams`, as
the test of the Wireshark dissector does."""

import json

import fields
import pcapng
import session

# The addresses for a capture: a session names sides, not addresses.
ADDRESSES = {"client": ("192.0.2.1", 40000), "server": ("198.51.100.7", 27015)}


class Datagram:
    """One datagram, as a record of a capture and as the fields that a reader should find in it."""

    def __init__(self, record, found):
        self.record, self.fields = record, found


def of(sender, data, opened, modes, time_us=0):
    """`opened` is (the clear part, the plaintext), or None for a datagram that is shown as it was on the wire."""
    shown, name = (b"".join(opened), pcapng.OPENED) if opened else (data, pcapng.AS_ON_THE_WIRE)
    ends = ADDRESSES[sender], ADDRESSES[session.PEER[sender]]
    record = pcapng.Record(time_us, *ends, name, shown)
    return Datagram(record, fields.datagram(shown, opened is not None, sender == "server", modes))


def datagrams(path):
    """Returns (channel modes, [Datagram]) of a recorded session, and checks the session on the way."""
    with open(path, encoding="utf-8") as lines:
        decoder, found = session.Session(json.loads(next(lines))), []
        for line in lines:
            entry = json.loads(line)
            if "rekey_secret" in entry:
                decoder.rekey_secret(bytes.fromhex(entry["rekey_secret"]))
            if "datagram" not in entry:
                continue
            data = bytes.fromhex(entry["datagram"])
            decoder.datagram(entry["from"], data)
            found.append(of(entry["from"], data, decoder.opened, decoder.channels, entry.get("t_us", 0)))
    return decoder.channels, found


def convert(session_path, capture_path):
    """Writes the capture and returns how many datagrams it holds."""
    _, found = datagrams(session_path)
    pcapng.write(capture_path, [each.record for each in found])
    return len(found)
