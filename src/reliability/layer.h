// reliability: channels over an unreliable, encrypted path, and the Endpoint that composes a socket,
// connections and channels.
//
// Does:    acknowledgement, RTT and RTO, loss detection, retransmission, ordering, deduplication, windows and
//          back-pressure for the four channel modes (§5, R-01…R-11); packs messages into datagrams;
//          routes datagrams to connections, opens, frame-checks whole, then acts (K-03, P-10); keepalive,
//          timeout and disconnect (L-02, L-03, L-05, L-07); one receipt per message: acked or lost;
//          a byte budget for every send, from a congestion controller and a pacer (C-01…C-03).
// Rooms, lowest first; each owns its state, and none includes one behind it:
//          path        where the peer is, whether that is proven, how large datagrams may be
//          congestion  how fast to send: controllers and the pacer
//          recovery    what was sent, acked and lost; round trips; numbers that are left out
//          channel     messages on their way out and in, their windows and their memory; filling packets
//          endpoint    Connection composes the rooms above; Endpoint has the table of connections, what is
//                      due, and the batch
// Refuses: to know objects, ticks or RPCs; to read a clock; to drop a reliable message; to put fragments
//          together (it carries them as messages; fragment cuts and assembles).
// Holds:   no state changes before the AEAD has opened the packet and its whole plaintext is well-formed;
//          a packet is acked only when every reliable message in it was accepted; I4: each reliable
//          message is delivered exactly once while the connection lives, at most once overall, in order on
//          ordered channels.
// Spec:    §3.2…§3.4, §4.3, §5, §6, C-…, R-…, L-….
#pragma once
