// abi: the only folder that defines lattice_* symbols (§19).
//
// It turns handles into objects (refusing stale ones), C structures into the types of the world layer,
// and refusals into a lattice_result plus a sentence in lattice_last_error(). One file per noun.
// It refuses to hold logic: src/world does the work of a world. Only this layer and the programs above it
// read clocks; below, time is an argument.
#pragma once
