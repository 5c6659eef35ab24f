// transfer: large transfers, of many megabytes, over one connection and below everything else on it.
//
// Does:    offers, accepts, holds, cancels and ends transfers in both directions by control messages; cuts
//          them into chunks that are sent as unreliable messages of a bulk channel, and again when their
//          packet was lost; tells progress and the end; refuses hostile chunks and control messages by name.
// Refuses: to hold the bytes (the application's memory or callbacks do, on both sides); to queue chunks (the
//          endpoint asks for one when it has budget left); to survive the connection; to read a clock.
// Holds:   a byte is delivered at most once; a transfer is done only when its receiver has every byte; what
//          a connection may occupy is bounded by constants and by TransferConfig.
// Spec:    docs/spec/transfer.md, B-….
#pragma once
