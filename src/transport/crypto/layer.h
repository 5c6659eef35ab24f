// Layer crypto (§8, §4.2; K-01…K-04, H-03; keys, token and cookie as the handshake page fixes them).
//
// Does: X25519, Ed25519, ChaCha20-Poly1305, SHA-256, HMAC, HKDF behind types that wipe themselves; the nonce
// layout; the key schedule of the handshake and of rotation; connect and relay token signatures; the address
// cookie; the replay window. All algorithms are libsodium's except HKDF, which is written over HMAC.
//
// Refuses: to hold a connection, to know when a key is used up (transport/connection does), to touch a socket
// or a clock, to send anything. Randomness comes in as an EntropySource; only SystemEntropy asks the OS.
//
// Holds: no secret outlives the object that owns it (I3 needs keys in memory only); nothing that compares a
// secret branches on it; a seal under a (key, nonce) already used in this process aborts in validation
// builds.
#pragma once
