// A registered schema and quantized states as JSON, in the form tools/conformance reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lattice/schema.h"
#include "serialization/layout.h"

namespace lattice::test {

/// {"types": [...], "input": {...}}. It contains no derived values: the reader computes sizes and bit counts
/// from the specification.
std::string schema_json(std::span<const lattice_type_desc> types, const lattice_input_desc& input);

/// One string per leaf, in order: a decimal word, "q:" and 32 hex digits for a full rotation, "x:" and hex
/// for text and bytes, "b:<bits>:" and hex for a custom value.
std::string leaves_json(const serialization::Layout& layout, const serialization::Word* words);

std::string hex(std::span<const uint8_t> bytes);

}  // namespace lattice::test
