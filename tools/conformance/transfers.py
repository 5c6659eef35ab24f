"""Large transfers (docs/spec/transfer.md): follows control messages 16 to 19 and the chunks of bulk channels of both
ends. Raises Malformed at bytes that no sender may send."""

from packets import Bytes, require

OFFER, ACCEPT, HOLD, END = 16, 17, 18, 19
RECEIVERS_REASONS = (0, 1, 4)
MAX_OPEN = 8


def parse_control(body):
    """Returns a dictionary with `kind` and the fields of the body."""
    r = Bytes(body)
    out = {"kind": r.uint(1, "type"), "id": r.uint(2, "id")}
    if out["kind"] == OFFER:
        out["size"] = r.uint(8, "size")
        out["label"] = r.rest()
        require(1 <= out["size"] <= 1 << 40, "size (B-3)")
        require(len(out["label"]) <= 64, "label (B-3)")
    elif out["kind"] == HOLD:
        out["held"] = r.uint(1, "held")
        require(out["held"] <= 1, "held (B-8)")
    elif out["kind"] == END:
        out["side"], out["reason"] = r.uint(1, "side"), r.uint(1, "reason")
        require(out["side"] <= 1 and out["reason"] <= 4, "side or reason (B-8)")
        require(out["side"] == 1 or out["reason"] not in RECEIVERS_REASONS, "a reason only receivers give (B-7)")
    r.end("the control message")
    return out


def parse_chunk(body):
    r = Bytes(body)
    chunk = {"id": r.uint(2, "id"), "offset": r.varint("offset"), "bytes": r.rest()}
    require(chunk["bytes"], "a chunk without bytes (B-9)")
    return chunk


class Transfer:
    def __init__(self, offer):
        self.size = offer["size"]
        self.accepted = False
        self.ended_by = set()
        self.sent = bytearray()  # the bytes that left at least once, from the start on: new chunks go in order


class Direction:
    """The transfers that one side sends."""

    def __init__(self):
        self.offers = 0
        self.transfers = {}

    def offer(self, message):
        self.offers += 1
        require(message["id"] == self.offers & 0xFFFF, f"offer {message['id']} out of sequence (B-3)")
        require(sum(not t.ended_by for t in self.transfers.values()) < MAX_OPEN, "a ninth transfer (B-4)")
        self.transfers[message["id"]] = Transfer(message)

    def find(self, number):
        require(number in self.transfers, f"transfer {number} was never offered (B-8)")
        return self.transfers[number]


class Transfers:
    def __init__(self):
        self.directions = {"client": Direction(), "server": Direction()}

    def on_control(self, sender, body):
        message = parse_control(body)
        own = self.directions[sender]
        other = self.directions["server" if sender == "client" else "client"]
        if message["kind"] == OFFER:
            own.offer(message)
            return
        by_receiver = message["kind"] != END or message["side"] == 1
        transfer = (other if by_receiver else own).find(message["id"])
        require(by_receiver not in transfer.ended_by, "about a transfer this side has ended (B-7)")
        if message["kind"] == ACCEPT:
            require(not transfer.accepted, "accepted twice (B-8)")
            transfer.accepted = True
        elif message["kind"] == HOLD:
            require(transfer.accepted, "held before it was accepted (B-6)")
        else:
            self._end(transfer, message, by_receiver)

    @staticmethod
    def _end(transfer, message, by_receiver):
        if message["reason"] == 0:
            require(len(transfer.sent) == transfer.size, "done before every byte was sent (B-8)")
        require(message["reason"] not in (1, 4) or not transfer.accepted, "refused after it was accepted (B-7)")
        transfer.ended_by.add(by_receiver)

    def on_chunk(self, sender, body):
        chunk = parse_chunk(body)
        transfer = self.directions[sender].find(chunk["id"])
        require(transfer.accepted, "a chunk before the transfer was accepted (B-9)")
        offset, data = chunk["offset"], chunk["bytes"]
        end = offset + len(data)
        require(end <= transfer.size, "a chunk past the end (B-9)")
        require(len(data) >= 256 or end == transfer.size, "a short chunk before the end (B-9)")
        require(offset <= len(transfer.sent), "a chunk that leaves bytes out (B-13)")
        old = transfer.sent[offset:end]
        require(old == data[:len(old)], "bytes that changed (B-9)")
        transfer.sent += data[len(old):]
