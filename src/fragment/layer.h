// fragment: messages longer than a packet, fragmented by the sender and put together by the receiver.
//
// Does:    cuts a message of up to 290,816 bytes into at most 256 fragments of 1136 bytes and queues all of
//          them or none (F-01, F-04, F-05, F-08); puts fragments together on every channel mode, within
//          bounds (F-03, F-06, F-07); gives one receipt per message, whatever the number of fragments.
//          FragmentingEndpoint wraps reliability's Endpoint with the same interface, so the layers above do
//          not know of fragments.
// Refuses: to fragment snapshots, inputs and control messages; to make an unreliable message reliable because
//          it is long; to reserve memory that a peer only announces: memory follows the bytes received.
// Holds:   an incomplete message is never delivered; on a reliable channel, where every fragment arrives, a
//          refused fragment ends the connection; on other channels it only costs the message; memory comes
//          from the endpoint's pool and returns to it when the connection ends.
// Spec:    §7, F-01…F-08; docs/spec/fragmentation.md.
#pragma once
