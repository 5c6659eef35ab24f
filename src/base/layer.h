// Layer base: small generic parts that every layer above uses.
//
// Does:    checks, byte cursors, wrapping counters, the seeded generator, fixed-capacity containers
//          (ring, bit set, id pool, hash index, deadline table), pooled buffers, counters, the list of what
//          is counted (events.def), the log callback, the value that names a path.
// Refuses: I/O, clocks, threads, knowledge of the protocol but for names and texts in that list. A container
//          allocates when it is created, and on growth that its docstring announces; never otherwise.
// Uses:    platform (byte order, large pages).
// Source:  architecture §3, B-07; STYLE "every queue, table and loop has a stated bound".
#pragma once
