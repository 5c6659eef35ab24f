#!/usr/bin/env python3
"""The Wireshark dissector against the specification, field by field: dissector_test.py FOLDER SESSION

A recorded session and a collection of every form the standard has are written as captures, tshark reads them with
tools/wireshark/lattice.lua, and each field it shows, in order, is the one tools/conformance/fields.py reads. Damaged
forms must be called malformed and never be an error of the script. Needs tshark."""

import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools" / "conformance"))

import capture  # noqa: E402  (found through the path above)
import fields  # noqa: E402
import packets  # noqa: E402
import pcapng  # noqa: E402
from dissector_forms import BULK_CHANNEL, forms, packet, snapshot, snapshot_bodies  # noqa: E402
from session import PEER  # noqa: E402

MODES = {**packets.BUILT_IN_CHANNELS, BULK_CHANNEL: "bulk"}
SCRIPT = TREE / "tools" / "wireshark" / "lattice.lua"
FIELDS = SCRIPT.with_name("lattice_fields.lua")


def shown(path, modes):
    """What tshark shows of each datagram of a capture: ([(name, value)], is_malformed)."""
    channels = ", ".join(f"{n} {mode}" for n, mode in modes.items() if n not in packets.BUILT_IN_CHANNELS)
    command = ["tshark", "-r", path, "-X", f"lua_script:{SCRIPT}", "-o", f"lattice.channels:{channels}", "-T", "pdml"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tshark:
        output, errors = tshark.communicate()
    if tshark.returncode != 0 or b"Error" in errors:
        raise AssertionError(f"tshark returned {tshark.returncode}: {errors.decode()}")
    found = []
    for packet in xml.fromstring(output).iter("packet"):
        names = [(each.get("name", ""), each.get("show", "")) for each in packet.iter("field")]
        if any(name == "_ws.lua.error" for name, _ in names):
            raise AssertionError(f"an error of the script: {[show for _, show in names if 'Lua Error' in show]}")
        values = [(name[len("lattice."):], show) for name, show in names if name.startswith("lattice.")]
        found.append(([each for each in values if each[0] != "malformed"], ("malformed", "") in values))
    return found


def size(form):
    _, data, opened = form
    return len(b"".join(opened) if opened else data)


def record(form, n=None):
    """The form, or its first `n` bytes, as a record of a capture."""
    sender, data, opened = form
    whole = b"".join(opened) if opened else data
    name = pcapng.OPENED if opened else pcapng.AS_ON_THE_WIRE
    return pcapng.Record(0, capture.ADDRESSES[sender], capture.ADDRESSES[PEER[sender]], name, whole[:n])


class Dissector(unittest.TestCase):
    maxDiff = None

    def check(self, name, modes, datagrams):
        path = str(FOLDER / name)
        pcapng.write(path, [each.record for each in datagrams])
        self.assertEqual(pcapng.read(path), [each.record for each in datagrams])
        found = shown(path, modes)
        self.assertEqual(len(found), len(datagrams))
        for number, ((values, is_malformed), datagram) in enumerate(zip(found, datagrams), 1):
            self.assertEqual(values, datagram.fields, f"{path}, datagram {number}")
            self.assertFalse(is_malformed, f"{path}, datagram {number}")
        return sum(len(each.fields) for each in datagrams)

    def test_a_recorded_session(self):
        modes, datagrams = capture.datagrams(SESSION)
        count = self.check("session.pcapng", modes, datagrams)
        print(f"{len(datagrams)} datagrams, {count} fields")

    def test_every_form_of_the_standard(self):
        made = [capture.of(sender, data, opened, MODES) for sender, data, opened in forms()]
        self.check("forms.pcapng", MODES, made)
        names = {name for each in made for name, _ in each.fields}
        declared = set(DECLARED)
        self.assertEqual(names ^ declared, set(), "fields the dissector declares and no form has, or the reverse")

    def test_truncations_are_malformed_and_no_error_of_the_script(self):
        self.check_damaged("cut.pcapng", [record(form, n) for form in forms() for n in range(1, min(size(form), 90))])

    def test_damaged_snapshots_are_malformed_and_no_error_of_the_script(self):
        damaged = []
        for body in snapshot_bodies():
            damaged += [body[:n] for n in range(len(body))]
            damaged += [bytes(byte ^ (1 << bit if i == at else 0) for i, byte in enumerate(body))
                        for at in range(len(body)) for bit in range(8)]
        count = self.check_damaged("damaged.pcapng", [record(packet(*snapshot(body))) for body in damaged])
        self.assertGreater(count, len(damaged) // 10)

    def check_damaged(self, name, records):
        """Returns how many are malformed."""
        path = str(FOLDER / name)
        pcapng.write(path, records)
        found = shown(path, MODES)
        self.assertEqual(len(found), len(records))
        for (_, is_malformed), each in zip(found, records):
            try:
                fields.datagram(each.data, each.dissector == pcapng.OPENED, each.source[1] == 27015, MODES)
                explained = True
            except (packets.Malformed, KeyError, UnicodeDecodeError):
                explained = False
            self.assertEqual(is_malformed, not explained, each)
        return sum(is_malformed for _, is_malformed in found)


def declared_fields():
    """The names in the script."""
    return [line.split('"')[1] for line in FIELDS.read_text(encoding="utf-8").splitlines() if line.startswith('field("')]


if __name__ == "__main__":
    FOLDER, SESSION = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
    DECLARED = declared_fields()
    unittest.main()
