// Serialization: from a description of a type to bits, and back.
//
// Does: compile descriptors (lattice/schema.h) into flat layouts, with every refusal naming field, value and
// bound; quantize host structures into canonical 32-bit words and back; compare, hash, interpolate and
// extrapolate words; pack words whole or as a delta against a baseline; keep the table of types and its
// schema hash.
// Refuses to: know objects, ticks, peers or datagrams; allocate after a layout is compiled; trust a decoded
// code. The bit writer and reader are public (lattice/authoring/bit_writer.h, bit_reader.h), because games
// write their own serializers with them. Source: §14.6, §20, §21, Y-01..Y-18, X-03, X-06, S-02.
#pragma once
