// fragment: messages longer than a packet, cut for sending and put together on arrival.
//
// Does:    cuts a message of up to 290,816 bytes into at most 256 units of 1136 bytes and queues all of them
//          or none (F-01, F-04, F-05, F-08); puts fragments together on every channel mode, within bounds
//          (F-03, F-06, F-07); one receipt per message, whatever it was cut into. FragmentingEndpoint wraps
//          reliability's Endpoint with the same interface, so nothing above knows that messages are cut.
// Refuses: to cut snapshots, inputs and control messages; to make an unreliable message reliable because it
//          is long; to keep what a peer announces: memory follows the bytes received.
// Holds:   an incomplete message is never delivered; one refusal ends a connection only where every fragment
//          is sure to arrive (reliable channels), elsewhere it costs the message; memory comes from the
//          endpoint's pool and is given back when the connection ends.
// Spec:    §7, F-01…F-08; docs/spec/fragmentation.md.
#pragma once
