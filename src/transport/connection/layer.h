// Layer connection (§4, §8.3; H-01…H-14, K-03, L-01…L-03, L-05, P-03, P-07).
//
// Does: one connection from the first byte to the last: the handshake of either side, the keys and packet
// numbers of the established link, its state table, its timers, and the table that routes datagrams to it.
//
// Refuses: to own a socket (datagrams out go to a DatagramSink), to read a clock (now_ns and unix_s are
// arguments), to know channels, acks, or what a payload means.
//
// Holds: the server keeps nothing about a peer before its message 3 verified; every refused datagram has a
// named, counted reason; no state changes before the AEAD opened the packet; nothing unauthenticated ends or
// moves a connection.
#pragma once
