#!/usr/bin/env python3
"""The Wireshark dissector with tables of games: dissector_game_test.py FOLDER SESSION LATTICEC

Every value that tshark shows, in order, is the one that tools/conformance reads. The bits are those of a recorded
session, which the library wrote, and of made-up parts, inputs and RPCs for the tables that latticec makes of
depot.lattice and everything.lattice. Damaged bits must never be an error of the script. Needs tshark."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools" / "conformance"))

import capture  # noqa: E402  (found through the path above)
import game_table  # noqa: E402
import game_values  # noqa: E402
import packets  # noqa: E402
import pcapng  # noqa: E402
import session  # noqa: E402
import state  # noqa: E402
from blocks import read_part  # noqa: E402
from game_maker import Game  # noqa: E402
from packets import RPC, SNAPSHOT  # noqa: E402

SCRIPT = TREE / "tools" / "wireshark" / "lattice.lua"
CUSTOM = '''_G.lattice_customs = { ["runs.v1"] = function(take)
  local n = take(3)
  local said = n .. " values"
  for i = 1, n do said = said .. " " .. take(5) end
  return said
end }
'''
game_values.keep_descriptions()


class Shown:
    """What tshark shows of one frame."""

    def __init__(self, packet):
        fields = [(each.get("name", ""), each.get("show", "")) for each in packet.iter("field")]
        self.errors = [show for name, show in fields if name == "" and "Lua Error" in show]
        self.names = [name for name, _ in fields]
        self.values = [(name[len("lattice.game."):], show) for name, show in fields if name.startswith("lattice.game.")]
        self.texts = [each.get("showname", "") for each in packet.iter("proto")]
        self.notes = [show for name, show in fields if name == "_ws.expert.message"]


# The first datagrams of a long capture, where one reading of the whole is enough.
FRONT = ["-c", "700"]


def tshark(path, scripts, modes=None, options=(), script=SCRIPT, home=None):
    channels = ", ".join(f"{n} {mode}" for n, mode in (modes or {}).items() if n not in packets.BUILT_IN_CHANNELS)
    command = ["tshark", "-r", str(path), "-o", f"lattice.channels:{channels}", "-T", "pdml", *options]
    for each in (*([script] if script else []), *scripts):
        command += ["-X", f"lua_script:{each}"]
    environment = {**os.environ, "HOME": str(home)} if home else None
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    if done.returncode != 0 or b"rror" in done.stderr:
        raise AssertionError(f"tshark returned {done.returncode}: {done.stderr.decode()}")
    found = [Shown(packet) for packet in xml.fromstring(done.stdout).iter("packet")]
    for each in found:
        if each.errors:
            raise AssertionError(f"an error of the script: {each.errors[0]}")
    return found


def write(name, text):
    path = FOLDER / name
    path.write_text(text, encoding="utf-8")
    return path


def made_by_latticec(name, folder):
    """The path of the table and its schema."""
    source, path = TREE / folder / f"{name}.lattice", FOLDER / f"{name}.lua"
    subprocess.run([LATTICEC, "wireshark", source, "-o", path], check=True)
    told = json.loads(subprocess.run([LATTICEC, "json", source], check=True, capture_output=True).stdout)
    schema = game_table.read_text(told["canonical"])
    structures = {s["name"]: s["structure"] for each in told["objects"] for s in each["states"]}
    for behaviour in (b for each in schema["types"] for b in each["behaviours"]):
        behaviour["structure"]["name"] = structures[behaviour["name"]]
    game_table.with_keys(schema)
    enums = {each["name"]: [value["name"] for value in each["values"]] for each in told["enums"]}
    of_member = {f"{s['name']}.{m['name']}": enums[m["type"]] for s in told["structures"] for m in s["members"]
                 if m["type"] in enums}
    return path, told["canonical"], schema, of_member


@functools.cache
def recorded_session():
    """(channel modes, path of the capture, path of the table, what each datagram has)."""
    expected, records = [], []
    with open(SESSION, encoding="utf-8") as lines:
        head = json.loads(next(lines))
        game_table.with_keys(head["schema"])
        decoder = session.Session(head)
        with game_values.recording() as found, reading_what_is_sent_again():
            for line in lines:
                entry = json.loads(line)
                if "rekey_secret" in entry:
                    decoder.rekey_secret(bytes.fromhex(entry["rekey_secret"]))
                if "datagram" not in entry:
                    continue
                found.clear()
                decoder.datagram(entry["from"], bytes.fromhex(entry["datagram"]))
                expected.append(list(found))
                records.append(capture.of(entry["from"], bytes.fromhex(entry["datagram"]), decoder.opened,
                                          decoder.channels, entry.get("t_us", 0)).record)
    path = FOLDER / "game_session.pcapng"
    pcapng.write(str(path), records)
    table = write("session.lua", game_table.write_table("session", head["schema"], decoder.schema.text) + CUSTOM)
    return decoder.channels, path, table, expected


class Games(unittest.TestCase):
    maxDiff = None

    def check(self, where, shown, expected, enums=None):
        """Compares the values of a frame; a frame that ends early must say so."""
        for (name, text), (expected_name, value) in zip(shown.values, expected):
            self.assertEqual(name, expected_name, where)
            is_same = game_values.agrees(text, value, (enums or {}).get(name))
            self.assertTrue(is_same, f"{where}: {name} {text!r} is not {value!r}")
        self.assertEqual(len(shown.values), len(expected), f"{where}: {shown.notes}")
        self.assertEqual([note for note in shown.notes if note], [], where)
        return len(expected)

    # ---- A session that the library wrote ---------------------------------------------------------

    def test_a_recorded_session(self):
        modes, path, table, expected = recorded_session()
        found = tshark(path, [table], modes)
        self.assertEqual(len(found), len(expected))
        count = sum(self.check(f"{path}, frame {n}", *each) for n, each in enumerate(zip(found, expected), 1))
        print(f"{count} values of {len({name for each in expected for name, _ in each})} members")
        self.assertGreater(count, 10_000)
        again = tshark(path, [table], modes, ["-2", *FRONT])
        self.assertEqual([each.values for each in again], [each.values for each in found[:len(again)]],
                         "the second reading differs")

    def test_another_schema_is_said_and_shown_as_bytes(self):
        modes, path, table, _ = recorded_session()
        depot, *_ = made_by_latticec("depot", "game-sim")
        for scripts, channels in (([depot], modes), ([table], {})):
            found = tshark(path, scripts, channels, FRONT)
            self.assertEqual([each.values for each in found if each.values], [])
            notes = {note for each in found for note in each.notes if "schema is 0x" in note}
            self.assertEqual(len(notes), 1, notes)
            self.assertIn("lattice.snapshot.changes", {name for each in found for name in each.names})

    def test_of_several_tables_the_hash_chooses(self):
        modes, path, table, expected = recorded_session()
        depot, *_ = made_by_latticec("depot", "game-sim")
        found = tshark(path, [depot, table], modes, FRONT)
        self.assertTrue([len(each.values) for each in found] == [len(each) for each in expected[:len(found)]])

    def test_a_format_of_the_game_without_a_reader_ends_what_is_shown(self):
        modes, path, table, expected = recorded_session()
        text = table.read_text(encoding="utf-8")
        broken = CUSTOM.replace("take(3)", "nothing.at.all")
        for name, changed in (("without.lua", text.replace(CUSTOM, "")), ("broken.lua", text.replace(CUSTOM, broken))):
            found = tshark(path, [write(name, changed)], modes, FRONT)
            self.assertTrue(any("runs.v1" in note for each in found for note in each.notes))
            self.assertGreater(sum(len(each.values) for each in found), 1000)
            for number, (shown, each) in enumerate(zip(found, expected), 1):
                self.check_some(f"{path}, frame {number}", shown, each)

    # ---- Tables that latticec makes ---------------------------------------------------------------

    def made(self, name, folder):
        table, canonical, schema, enums = made_by_latticec(name, folder)
        layouts = state.Schema(schema, packets.BUILT_IN_CHANNELS)
        self.assertTrue(layouts.text.endswith("\n" + canonical), "the text was not read right")
        game = Game(layouts, seed=7)
        return table, enums, game, game.datagrams()

    def check_made(self, name, table, enums, game, made):
        path = FOLDER / f"{name}.pcapng"
        pcapng.write(str(path), [each.record for each in made])
        found = tshark(path, [table])
        self.assertEqual(len(found), len(made))
        with game_values.recording() as expected:
            world, count, seen = game.reader(), 0, set()
            for number, (shown, each) in enumerate(zip(found, made), 1):
                expected.clear()
                each.read(world)
                count += self.check(f"{path}, frame {number}", shown, expected, enums)
                seen |= {name for name, _ in expected}
        declared = {name for layout in game.layouts() for members in layout.behaviours for name in all_names(members)}
        self.assertEqual(declared - seen, set(), "members that no datagram has")
        print(f"{name}: {count} values of {len(seen)} members")
        again = tshark(path, [table], options=["-2"])
        self.assertEqual([each.values for each in again], [each.values for each in found], "the second reading differs")
        return path, found

    def check_file(self, name, folder):
        path, found = self.check_made(name, *self.made(name, folder))
        by_preference = tshark(path, [], options=["-o", f"lattice.game:{FOLDER / name}.lua"])
        self.assertEqual([len(each.values) for each in by_preference], [len(each.values) for each in found])
        self.assertEqual({name for each in by_preference for name, _ in each.values}, {"value"})

    def test_depot(self):
        self.check_file("depot", "game-sim")

    def test_a_table_beside_the_script_and_in_the_plugin_folder(self):
        table, _, _, made = self.made("depot", "game-sim")
        path, home = FOLDER / "depot_installed.pcapng", FOLDER / "home"
        pcapng.write(str(path), [each.record for each in made])
        expected = [each.values for each in tshark(path, [table])]
        shutil.rmtree(home, ignore_errors=True)
        environment = {**os.environ, "HOME": str(home)}
        told = subprocess.run(["tshark", "-G", "folders"], check=True, capture_output=True, env=environment)
        plugins = re.search(r"^Personal Lua Plugins:\s+(.*)$", told.stdout.decode(), re.M).group(1)
        folder = pathlib.Path(plugins) / "lattice"
        shutil.copytree(SCRIPT.parent, folder)
        shutil.copy(table, folder)
        self.assertEqual([each.values for each in tshark(path, [], script=folder / "lattice.lua")], expected)
        self.assertEqual([each.values for each in tshark(path, [], script=None, home=home)], expected)

    def test_everything(self):
        self.check_file("everything", "tests/latticec")

    def test_more_members_than_a_mask_holds(self):
        lines = [f" member m{i} {'bool' if i % 3 else 'uint8 bits 5'} flags 0" for i in range(70)]
        text = "\n".join(["type 1 Wide object", "behaviour Many", *lines, "behaviour Few", " member few bool flags 0",
                          "input Keys", "behaviour Keys", " member up bool flags 0", ""])
        schema = game_table.with_keys(game_table.read_text(text))
        layouts = state.Schema(schema, packets.BUILT_IN_CHANNELS)
        self.assertFalse(layouts.types[1].has_mask)
        game = Game(layouts, seed=8)
        table = write("wide.lua", game_table.write_table("wide", schema, layouts.text))
        self.check_made("wide", table, {}, game, game.datagrams())

    def test_a_wrong_table_is_noticed(self):
        table, enums, game, made = self.made("depot", "game-sim")
        text = table.read_text(encoding="utf-8")
        for right, wrong in (('"compressed 18 0 256 131072', '"compressed 18 0 255 131072'), ('"dash_tick"', '"dash"'),
                             ('"kCrate"', '"kBarrel"'), ('"int32", "ranged 12', '"int32", "ranged 11')):
            self.assertIn(right, text)
            changed = write("wrong.lua", text.replace(right, wrong, 1))
            with self.assertRaises(AssertionError, msg=wrong):
                self.check_made("wrong", changed, enums, game, made)

    def test_a_table_that_is_none_is_said(self):
        _, _, _, made = self.made("depot", "game-sim")
        path = FOLDER / "depot_none.pcapng"
        pcapng.write(str(path), [each.record for each in made[:3]])
        odd = write("odd.lua", '_G.lattice_games["odd"] = {}')
        for table in (FOLDER / "no_such_table.lua", write("none.lua", "return {"), odd):
            found = tshark(path, [], options=["-o", f"lattice.game:{table}"])
            self.assertTrue(any(note for each in found for note in each.notes), table)

    # ---- What is not there, and what is damaged ---------------------------------------------------

    def check_some(self, where, shown, expected, enums=None):
        """Compares the values of a frame that shows some of them: each is one of those that follow."""
        rest = iter(expected)
        for name, text in shown.values:
            self.assertTrue(any(name == other and game_values.agrees(text, value, (enums or {}).get(name))
                                for other, value in rest), f"{where}: {name} {text}")

    def test_what_the_capture_does_not_hold_is_said(self):
        """Without the first part, which has full entries, deltas are of objects that nobody knows."""
        table, _, _, made = self.made("depot", "game-sim")
        path = FOLDER / "late.pcapng"
        pcapng.write(str(path), [each.record for each in made[1:]])
        found = tshark(path, [table])
        self.assertTrue(any("no full entry of the object" in note for each in found for note in each.notes))
        self.assertIn("lattice.snapshot.changes", {name for each in found for name in each.names})
        rpcs = {"PawnEffect.where.x", "PawnPickedUp.kind", "DoorUse.open"}  # the only ones with their number and target
        self.assertLessEqual(rpcs, {name for each in found for name, _ in each.values})

    def test_without_a_baseline_what_is_whole_is_shown(self):
        for name, folder in (("depot", "game-sim"), ("everything", "tests/latticec")):
            table, enums, game, made = self.made(name, folder)
            path, kept = FOLDER / f"{name}_lost.pcapng", [n == 0 or n % 3 != 1 for n in range(len(made))]
            pcapng.write(str(path), [each.record for each, is_kept in zip(made, kept) if is_kept])
            found = iter(tshark(path, [table]))
            notes = set()
            with game_values.recording() as expected:
                world = game.reader()
                for number, (each, is_kept) in enumerate(zip(made, kept), 1):
                    expected.clear()
                    each.read(world)
                    if is_kept:
                        shown = next(found)
                        self.assertNotIn("lattice.malformed", shown.names, f"{path}, datagram {number}")
                        self.check_some(f"{path}, datagram {number}", shown, expected, enums)
                        notes |= {text for text in shown.texts if "not known" in text or "not in the capture" in text}
            self.assertTrue(any("the baseline of tick" in note for note in notes), notes)
            self.assertTrue(any("not known" in note for note in notes), notes)

    def test_damaged_bits_are_no_error_of_the_script(self):
        for name, folder in (("depot", "game-sim"), ("everything", "tests/latticec")):
            table, _, game, made = self.made(name, folder)
            damaged = game.damaged(made)
            path = FOLDER / f"{name}_damaged.pcapng"
            pcapng.write(str(path), [record for record, _ in damaged])
            found = tshark(path, [table])
            self.assertEqual(len(found), len(damaged))
            for number, (shown, (_, is_cut)) in enumerate(zip(found, damaged), 1):
                if is_cut:
                    told = {"lattice.malformed", "lattice.not_known"} & set(shown.names)
                    self.assertTrue(told, f"{path}, frame {number}: cut short and not told")
            self.assertGreater(sum("lattice.malformed" in each.names for each in found), len(found) // 10)


def all_names(members):
    for member in members:
        if member.children:
            yield from all_names(member.children)
        else:
            yield from game_values.names(member.desc)


class reading_what_is_sent_again:
    """The decoder passes over a reliable message that it has; the dissector shows it again."""

    def __enter__(self):
        self.before = session.Session._is_new

        def is_new(decoder, side, message):
            new = self.before(decoder, side, message)
            if not new and message.flags & RPC and message.fragment is None:
                sender = next(name for name, each in decoder.sides.items() if each is side)
                session.read_rpc(decoder.schema, decoder.snapshots.objects, message, sender == "client")
            return new

        session.Session._is_new = is_new

    def __exit__(self, *_):
        session.Session._is_new = self.before


if __name__ == "__main__":
    FOLDER, SESSION, LATTICEC = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
