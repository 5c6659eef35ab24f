// The input message (T-05, C-06): body of a channel-1 message with is_snapshot, client to server.
//
//   u32 newest_tick | u8 count (1..32) | u8 lead | sight of the newest input | bits:
//     newest input, whole
//     count-1 times, going back one tick each:
//       1 bit changed, and if set the delta against the newer input; then its sight against the newer
//       (sight.h)
//   zero bits up to the next byte
//
// The lead is how early the client means its inputs to arrive, in quarter ticks.
//
// Ticks are contiguous, so one tick number names them all. The encoding is canonical: a "changed" bit before
// an equal input, padding that is not zero, and bytes after the end are refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simulation/input_history.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::simulation {

inline constexpr size_t kInputHeaderBytes = 6;

/// Writes the window that InputHistory asks for. Leaves out its oldest inputs until it fits `out`. `layout`
/// is the input command's. Returns the bytes written; 0 when the history is empty or the newest input alone
/// does not fit. Marks nothing as sent.
size_t encode_inputs(const serialization::Layout& layout, const InputHistory& history,
                     uint8_t lead_quarter_ticks, std::span<uint8_t> out);

enum class InputRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_INPUT(id, name, text) id,
#include "base/events.def"
  kCount,
};

/// A stable lower-case name, for counters.
const char* input_refusal_name(InputRefusal refusal);

struct DecodedInputs {
  InputRefusal refusal = InputRefusal::kNone;
  Tick newest_tick = 0;
  uint32_t count = 0;       // inputs in the message; 0 when refused
  uint32_t read_count = 0;  // of them, the newest, that were read
  uint8_t lead_quarter_ticks = 0;
  std::array<Sight, kMaxInputsPerMessage> sights;  // as many as read_count, newest input first
};

/// Reads one message: its newest input, and back to the first of those after `known_until`. Of the ticks up
/// to it, nothing can use an input any more, because they ran or because it is there; so the bits of those
/// are not looked at (D-61). With `known_until` 0, all are read. `words` receives read_count × word_count
/// words, newest input first. It must have room for 32 × layout.word_count() words. After a refusal its
/// content is meaningless.
DecodedInputs decode_inputs(const serialization::Layout& layout, std::span<const uint8_t> body,
                            Tick known_until, std::span<serialization::Word> words);

}  // namespace lattice::simulation
