"""The cryptographic primitives docs/spec names: X25519, Ed25519, the two AEADs, SHA-256, HMAC, HKDF.

The first three come from the `cryptography` package, or from PyNaCl (`nacl`), which may lack AES-256-GCM; the rest
is Python's own.
"""

import hashlib
import hmac

try:
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519 as _ed
    from cryptography.hazmat.primitives.asymmetric import x25519 as _x
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

    _RAW = {"encoding": serialization.Encoding.Raw, "format": serialization.PublicFormat.Raw}

    def _x25519_public(secret):
        return _x.X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes(**_RAW)

    def _x25519(secret, public):
        return _x.X25519PrivateKey.from_private_bytes(secret).exchange(
            _x.X25519PublicKey.from_public_bytes(public))

    def ed25519_public(seed):
        return _ed.Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(**_RAW)

    def ed25519_sign(seed, message):
        return _ed.Ed25519PrivateKey.from_private_bytes(seed).sign(message)

    def ed25519_verify(public, message, signature):
        try:
            _ed.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
            return True
        except InvalidSignature:
            return False

    def aead_seal(key, nonce, plaintext, associated, aes=False):
        return (AESGCM if aes else ChaCha20Poly1305)(key).encrypt(nonce, plaintext, associated)

    def aead_open(key, nonce, sealed, associated, aes=False):
        """The plaintext, or None when it is not authentic."""
        try:
            return (AESGCM if aes else ChaCha20Poly1305)(key).decrypt(nonce, sealed, associated)
        except InvalidTag:
            return None

except ImportError:
    from nacl import bindings as _nacl
    from nacl.exceptions import BadSignatureError, CryptoError

    def _x25519_public(secret):
        return _nacl.crypto_scalarmult_base(secret)

    def _x25519(secret, public):
        return _nacl.crypto_scalarmult(secret, public)

    def ed25519_public(seed):
        return _nacl.crypto_sign_seed_keypair(seed)[0]

    def ed25519_sign(seed, message):
        return _nacl.crypto_sign(message, _nacl.crypto_sign_seed_keypair(seed)[1])[:64]

    def ed25519_verify(public, message, signature):
        try:
            _nacl.crypto_sign_open(signature + message, public)
            return True
        except BadSignatureError:
            return False

    def aead_seal(key, nonce, plaintext, associated, aes=False):
        encrypt = _nacl.crypto_aead_aes256gcm_encrypt if aes else _nacl.crypto_aead_chacha20poly1305_ietf_encrypt
        return encrypt(plaintext, associated, nonce, key)

    def aead_open(key, nonce, sealed, associated, aes=False):
        """The plaintext, or None when it is not authentic."""
        decrypt = _nacl.crypto_aead_aes256gcm_decrypt if aes else _nacl.crypto_aead_chacha20poly1305_ietf_decrypt
        try:
            return decrypt(sealed, associated, nonce, key)
        except CryptoError:
            return None


def x25519_public(secret):
    return _x25519_public(secret)


def x25519(secret, public):
    shared = _x25519(secret, public)
    if shared == bytes(32):
        raise ValueError("X25519 gave zero (S-1)")
    return shared


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def hmac_sha256(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def hkdf_extract(salt, ikm):
    return hmac_sha256(salt if salt else bytes(32), ikm)


def hkdf_expand(prk, info):
    """Returns 32 bytes, which are one block."""
    return hmac_sha256(prk, info, b"\x01")
