"""The objects that both sides placed before a session, and what message 3 says of them (docs/spec/data.md, "Placed
objects"; docs/spec/handshake.md, "Placed objects")."""

import primitives as p
from packets import require
from state import Bits

NOTHING = (0, 0, 0, 0)
WRAP = (1 << 64) - 1


def read_placed(schema, texts):
    """Reads placed objects, each as its bytes of D-53. Returns key -> (type_id, contents), and the summary of S-41."""
    placed = {}
    for text in texts:
        bits = Bits(text)
        key, type_id = bits.varint(), bits.varint(32)
        require(key and type_id in schema.types, f"key {key}, type_id {type_id}")
        require(not placed or key > max(placed), f"key {key} does not ascend")
        layout = schema.types[type_id]
        placed[key] = type_id, layout.read_delta(bits, layout.zero)
        bits.end()
    if not placed:
        return placed, NOTHING
    digest = int.from_bytes(p.sha256(*texts)[:8], "little")
    return placed, (len(placed), sum(placed) & WRAP, sum(key * key for key in placed) & WRAP, digest)


def summary_bytes(summary):
    return summary[0].to_bytes(4, "little") + b"".join(value.to_bytes(8, "little") for value in summary[1:])
