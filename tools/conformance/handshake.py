"""The key schedule of docs/spec/handshake.md, and the check of tests/data/vectors/handshake.json: every value of
that file is recomputed from its private keys and inputs."""

import ipaddress

import packets
import primitives as p
from packets import HANDSHAKE, KEEPALIVE, PAYLOAD, RESPONSE, write_header

ZERO_NONCE = bytes(12)
AES_256_GCM = 1  # bit of features


def u(value, n):
    return value.to_bytes(n, "little")


class Keys:
    """The values from th1 to m0, as many as follow from the given values."""

    def __init__(self, protocol_id, server_pub, token, client_pub, challenge, es, ee):
        bucket_pub, nonce, key_index = challenge
        self.th1 = p.sha256(b"Lattice-NKt-25519-ChaChaPoly-SHA256-v1", protocol_id, server_pub, p.sha256(token),
                            client_pub)
        self.th2 = p.sha256(self.th1, bucket_pub, nonce, bytes([key_index]))
        self.prk = p.hkdf_extract(self.th2, es + ee)
        self.k3 = p.hkdf_expand(self.prk, b"lattice/v1/hs/client")

    def set_response(self, sealed):
        self.th3 = p.sha256(self.th2, sealed)

    def k4(self, accept_random):
        return p.hkdf_expand(self.prk, b"lattice/v1/hs/server" + self.th3 + accept_random)

    def set_accept(self, accept_random, sealed):
        self.th4 = p.sha256(self.th3, accept_random, sealed)
        self.m0 = p.hkdf_expand(self.prk, b"lattice/v1/master" + self.th4)


    def salt(self, plain):
        """The salt of a message 7 with this plaintext."""
        return p.hkdf_expand(self.prk, b"lattice/v1/hs/schema-salt" + p.sha256(plain))[:16]

    def k7(self, salt):
        return p.hkdf_expand(self.prk, b"lattice/v1/hs/schema" + salt)

    def answer_to_difference(self, salt, sealed, accept_random):
        """(th7, k4 of the refusal that answers this message 7)."""
        th7 = p.sha256(self.th2, salt, sealed)
        return th7, p.hkdf_expand(self.prk, b"lattice/v1/hs/server" + th7 + accept_random)


def difference_datagram(keys, client_pub, challenge, token, schema_id, lines):
    """Message 7, its salt and its sealed part."""
    _, nonce, key_index = challenge
    plain = u(schema_id, 8) + lines
    salt = keys.salt(plain)
    clear = (write_header(HANDSHAKE) + b"\x07" + client_pub + nonce + bytes([key_index]) + u(len(token), 2) + token + salt)
    sealed = p.aead_seal(keys.k7(salt), ZERO_NONCE, plain, clear)
    return clear + sealed, salt, sealed


def traffic_key(master, role, epoch):
    return p.hkdf_expand(master, b"lattice/v1/" + role.encode() + b"/" + u(epoch, 4))


def next_master(master, shared, init_body, response_body, epoch):
    return p.hkdf_expand(p.hkdf_extract(master, shared),
                         b"lattice/v1/rekey" + p.sha256(init_body, response_body) + u(epoch, 4))


def cookie(secret, address, port, protocol_id, client_pub, token, bucket_pub):
    ip = ipaddress.ip_address(address)
    raw = ip.packed if ip.version == 6 else bytes(10) + b"\xff\xff" + ip.packed
    return p.hmac_sha256(secret, b"lattice/v1/cookie", bytes([ip.version]), raw, u(port, 2), protocol_id, client_pub,
                         p.sha256(token), bucket_pub)[:16]


def reset_token(reset_key, connection_id):
    """The bytes with which a reset of that connection ends (docs/spec/states.md)."""
    return p.hmac_sha256(reset_key, b"lattice/v1/stateless-reset", u(connection_id, 8))[:16]


def make_token(v, kind, role, token_id, aud, cnf, user_data):
    i = v["inputs"]
    body = (b"LTK1" + bytes([kind, role]) + u(len(user_data), 2) + p.sha256(v["issuer"])[:8] + token_id +
            v["protocol_id"] + bytes(4) + u(int(i["schema_id"], 16), 8) + u(i["token_issued"], 8) +
            u(i["token_expires"], 8) + aud + cnf + v["player"] + v["session"] + user_data)
    return body + p.ed25519_sign(v["secret"]["issuer_ed25519"], packets.TOKEN_DOMAIN[kind] + body)


def agree(keys, i, pub, token, nonce, token_id, features):
    """Computes messages 3 and 4 when both sides have `features`, and the values that follow from them."""
    out = {}
    schema_id, connection_id = int(i["schema_id"], 16), int(i["connection_id"], 16)
    clear = write_header(RESPONSE) + pub["client"] + nonce + bytes([i["key_index"]]) + u(len(token), 2) + token
    plain = (nonce + token_id + u(schema_id, 8) + u(features, 4) + u(i["max_datagram"], 2) + u(i["tick_rate"], 2) +
             u(i["max_objects"], 4) + u(i["placed_count"], 4) +
             b"".join(u(int(i[name], 16), 8) for name in ("placed_key_sum", "placed_key_squares", "placed_digest")))
    sealed = p.aead_seal(keys.k3, ZERO_NONCE, plain, clear)
    out["challenge_response"] = clear + sealed
    keys.set_response(sealed)
    out["th3"] = keys.th3

    accept_random = bytes.fromhex(i["accept_random"])
    clear = write_header(HANDSHAKE, connection_id) + b"\x03" + accept_random
    plain = (u(connection_id, 8) + u(i["server_tick"], 4) + u(i["mtu_hint"], 2) + u(i["tick_rate"], 2) +
             u(i["peer_id"], 8) + u(schema_id, 8) + u(features, 4))
    out["k4"] = keys.k4(accept_random)
    sealed = p.aead_seal(out["k4"], ZERO_NONCE, plain, clear)
    out["connection_accepted"] = clear + sealed
    keys.set_accept(accept_random, sealed)
    out["th4"], out["m0"] = keys.th4, keys.m0
    return out


def first_packets(m0, secret, pub, connection_id, is_aes):
    """Computes the client's first packet, the first rotation, and a packet after it."""
    out = {f"key_{role}_0": traffic_key(m0, role, 0) for role in ("client", "server")}
    plain = bytes.fromhex("e00018000000000000")  # the ack message that says "nothing received"
    clear = write_header(PAYLOAD, connection_id, 0, 1)
    out["first_payload_client_seq1"] = {
        "plaintext": plain,
        "datagram": clear + p.aead_seal(out["key_client_0"], packets.nonce(1, 0), plain, clear, is_aes)}

    init = b"\x01" + u(1, 4) + pub["rekey_initiator"]
    response = b"\x02" + u(1, 4) + pub["rekey_responder"]
    m1 = next_master(m0, p.x25519(secret["rekey_initiator"], pub["rekey_responder"]), init, response, 1)
    rekey = out["rekey"] = {"init_body": init, "response_body": response, "m1": m1}
    for role in ("client", "server"):
        rekey[f"key_{role}_1"] = traffic_key(m1, role, 1)
    clear = write_header(PAYLOAD, connection_id, 1, 300)
    rekey["payload_client_seq300_epoch1"] = clear + p.aead_seal(rekey["key_client_1"], packets.nonce(300, 1), plain,
                                                                clear, is_aes)
    return out


def recompute(file):
    """Recomputes every derived value of the vectors, by the names in the file."""
    i = file["inputs"]
    secret = {name: bytes.fromhex(value) for name, value in file["private_keys"].items()}
    out = {"public_keys": {name: p.x25519_public(key) for name, key in secret.items() if name != "issuer_ed25519"}}
    pub = out["public_keys"]
    pub["issuer"] = p.ed25519_public(secret["issuer_ed25519"])
    pub["issuer_key_id"] = p.sha256(pub["issuer"])[:8]
    protocol_id = bytes.fromhex(i["protocol_id"])
    schema_id, connection_id = int(i["schema_id"], 16), int(i["connection_id"], 16)

    # token_id, player and session of a token are random, so the values in the file are inputs.
    given = packets.parse_token(bytes.fromhex(file["token"]))
    v = {"inputs": i, "secret": secret, "issuer": pub["issuer"], "protocol_id": protocol_id,
         "player": given["player"], "session": given["session"]}
    token = out["token"] = make_token(v, 1, 1, given["token_id"], pub["server_static"], pub["client"],
                                      bytes.fromhex(i["user_data"]))
    address, port = i["client_address"].rsplit(":", 1)
    nonce = out["challenge_nonce"] = cookie(bytes.fromhex(i["cookie_secret"]), address, int(port), protocol_id,
                                            pub["client"], token, pub["bucket"])
    out["es"] = p.x25519(secret["client"], pub["server_static"])
    out["ee"] = p.x25519(secret["client"], pub["bucket"])
    keys = Keys(protocol_id, pub["server_static"], token, pub["client"], (pub["bucket"], nonce, i["key_index"]),
                out["es"], out["ee"])
    for name in ("th1", "th2", "prk", "k3"):
        out[name] = getattr(keys, name)

    request = write_header(HANDSHAKE) + b"\x01" + pub["client"] + u(len(token), 2) + token
    out["connection_request"] = request + bytes(1200 - len(request))
    out["challenge"] = write_header(HANDSHAKE) + b"\x02" + packets.token_echo(token) + pub["bucket"] + nonce + bytes(
        [i["key_index"]])
    token_id = given["token_id"]
    out.update(agree(keys, i, pub, token, nonce, token_id, i["features"]))
    other = Keys(protocol_id, pub["server_static"], token, pub["client"], (pub["bucket"], nonce, i["key_index"]),
                 out["es"], out["ee"])
    aes = out["aes256gcm"] = agree(other, i, pub, token, nonce, token_id, AES_256_GCM)
    aes.update(first_packets(other.m0, secret, pub, connection_id, is_aes=True))

    refuse_random = bytes.fromhex(i["refuse_random"])
    clear = write_header(HANDSHAKE) + b"\x06" + refuse_random
    refused = bytes.fromhex(file["connection_refused_schema_mismatch"])
    # The schema and the text of the refusing server are inputs. Only the sealed part names them.
    opened = p.aead_open(keys.k4(refuse_random), ZERO_NONCE, refused[len(clear):], clear)
    (_, other_schema_id, text), _ = packets.parse_refusal(opened or b"")
    plain = u(7, 2) + u(other_schema_id, 8) + bytes([len(text)]) + text
    out["connection_refused_schema_mismatch"] = clear + p.aead_seal(keys.k4(refuse_random), ZERO_NONCE, plain, clear)

    challenge = (pub["bucket"], nonce, i["key_index"])
    told, salt, sealed = difference_datagram(keys, pub["client"], challenge, token, schema_id, i["schema_lines"].encode())
    th7, k4 = keys.answer_to_difference(salt, sealed, refuse_random)
    out["schema_difference"] = {"salt": salt, "k7": keys.k7(salt), "datagram": told, "th7": th7, "k4": k4,
                                "answer": clear + p.aead_seal(k4, ZERO_NONCE, plain, clear)}

    out["reset_token"] = reset_token(bytes.fromhex(i["reset_key"]), connection_id)
    out["reset"] = (write_header(KEEPALIVE, connection_id, 0, 1) + bytes.fromhex(i["reset_random"]) +
                    out["reset_token"])

    out.update(first_packets(keys.m0, secret, pub, connection_id, is_aes=False))

    given = packets.parse_token(bytes.fromhex(file["relay"]["token"]))
    token = make_token(v, 2, given["role"], given["token_id"], pub["relay_static"], pub["relay_peer"],
                       given["user_data"])
    shared = p.x25519(secret["relay_peer"], pub["relay_static"])
    out["relay"] = {"token": token, "relay_key": p.hkdf_expand(p.hkdf_extract(p.sha256(token), shared),
                                                               b"lattice/v1/relay" + p.sha256(token))}
    return out


def compare(file, computed, path=""):
    """Returns the names of the values that differ or were not recomputed."""
    wrong = []
    for name, value in file.items():
        if name in ("source", "private_keys", "inputs"):
            continue
        if isinstance(value, dict):
            wrong += compare(value, computed.get(name, {}), f"{path}{name}.")
        elif name not in computed:
            wrong.append(f"{path}{name}: not recomputed")
        elif computed[name].hex() != value:
            wrong.append(f"{path}{name}: {computed[name].hex()} instead of {value}")
    return wrong
