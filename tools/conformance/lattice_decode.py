#!/usr/bin/env python3
"""An independent decoder of the Lattice wire standard, written from docs/spec alone.

    lattice_decode.py vectors tests/data/vectors/handshake.json
        recomputes every value of the vectors from their private keys and inputs
    lattice_decode.py session FILE
        decodes every datagram of a recorded session to the last bit
    lattice_decode.py examples docs/spec
        decodes the byte examples those pages print
    lattice_decode.py capture FILE CAPTURE
        opens a recorded session and writes it as a pcapng file for Wireshark (docs/capture.md)

Returns 0 when everything agrees, 1 at the first thing it cannot explain, 2 when called wrongly. Needs Python 3
and the `cryptography` or the `nacl` package.

A session is a file of JSON lines. The first:

    {"format": "lattice-session 1", "client_secret": hex, "issuer": hex, "channels": {"4": MODE, ...},
     "schema": {"types": [{"type_id", "name", "behaviours": [{"name", "structure": S}],
                           "rpcs": [{"rpc_id", "name", "channel", "target", "owner_only", "delivery",
                                     "arguments": S or null}]}],
                "input": {"name", "structure": S} or null}}

client_secret is the client's X25519 key, from which and the captured handshake all session keys follow; issuer the
public key tokens are signed with; channels the declared application channels. A structure S is {"name", "delta",
"members": [M]}; a member M {"name", "type", "encoding", "flags"} with, as its type needs, "bits", "min", "max",
"quant": [[min, max, precision] per component], "capacity", "values" (of an enum), "structure": S, "custom":
{"name", "fields": [{"name", "bits", "times": an earlier field}]}. The names of types and encodings are those of
docs/spec/data.md.

Then one line per datagram, in the order of sending, lost ones too:

    {"from": "client" | "server", "datagram": hex}

Before a RekeyInit, the client's X25519 key of that rotation, without which the new keys cannot be derived:

    {"rekey_secret": hex}

Between them, where a message longer than a packet was handed in, {"long": "client" | "server", "channel", "sha256":
hex of its hash}; where the authority's states are known, {"truth": TICK, "all": BOOL, "objects": [O]} behind the
snapshot of that tick, where "all" says that nothing waits to be sent; and, when the world has stood still for a while, as
the last line {"end": true, "newest_input": [C], "newest_sight": [VIEW TICK, 256THS, SNAPSHOT TICK, LEAD], "objects": [O]}. An object O is {"id", "type_id",
"owner", "mode", "authority_tick", "state": [C]} with one content C per component: decimal; "q:" and 32 hex digits
for a full rotation; "x:" and hex for text and bytes; "b:BITS:" and hex for a custom value.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import capture  # noqa: E402  (found through the path above)
import examples  # noqa: E402
import handshake  # noqa: E402
import session  # noqa: E402
from packets import Malformed  # noqa: E402


def check_vectors(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    wrong = handshake.compare(vectors, handshake.recompute(vectors))
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{path}: every value agrees")
    return 1 if wrong else 0


def check_session(path):
    session.decode(path, print)
    return 0


def check_examples(folder):
    print(f"{folder}: {examples.check(folder)} examples agree")
    return 0


def write_capture(session_path, capture_path):
    print(f"{capture_path}: {capture.convert(session_path, capture_path)} datagrams")
    return 0


def main(arguments):
    commands = {"vectors": (check_vectors, 1), "session": (check_session, 1), "examples": (check_examples, 1),
                "capture": (write_capture, 2)}
    run, count = commands.get(arguments[1] if len(arguments) > 1 else "", (None, None))
    if run is None or len(arguments) != 2 + count:
        print(__doc__)
        return 2
    try:
        return run(*arguments[2:])
    except Malformed as error:
        print(f"{arguments[2]}: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
