// transfer: large transfers, of many megabytes, over one connection, with lower priority than all other
// traffic.
//
// Does:    offers, accepts, holds, cancels and ends transfers in both directions by control messages; cuts
//          them into chunks, which travel as unreliable messages of a bulk channel and are sent again when
//          their packet was lost; reports progress and the end; refuses hostile chunks and control messages
//          by name.
// Refuses: to hold the bytes (the application's memory or callbacks do, on both sides); to queue chunks (the
//          endpoint asks for one when it has budget left); to survive the connection; to read a clock.
// Holds:   a byte is delivered at most once; a transfer is done only when its receiver has every byte;
//          constants and TransferConfig bound the memory of a connection.
// Spec:    docs/spec/transfer.md, B-….
#pragma once
