// wire: the shapes of every datagram, as pure functions between bytes and structs.
//
// Does:    packet header (§3.1, P-01…P-06), handshake bodies and the token layout (handshake.md),
//          keepalive and disconnect bodies (L-02, L-05), payload framing (§3.2…§3.5, P-10, R-01),
//          control message types.
// Refuses: any policy. No cryptography, no clock, no state between calls, no allocation; it decides whether
//          a value is well-formed, not whether it is acceptable, and it knows no connections.
// Holds:   every codec reads back the values it wrote; every truncation and every out-of-range value is
//          refused with a named reason, and a refused message yields no values.
// Spec:    §3, §21.6, R-01, L-02, L-05, P-01…P-10.
#pragma once
