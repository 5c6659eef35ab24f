#include "simulation/input_codec.h"

#include <algorithm>

#include "base/assert.h"
#include "base/events.h"
#include "base/tick.h"
#include "serialization/layout.h"

namespace lattice::simulation {

using serialization::BitReader;
using serialization::BitWriter;

namespace {

constexpr size_t kCountOffset = 4;
static_assert(kCountOffset + 2 == kInputHeaderBytes);

InputRefusal refusal_of(SightFault fault) {
  return fault == SightFault::kBadSight ? InputRefusal::kBadSight : InputRefusal::kNotCanonical;
}

}  // namespace

size_t encode_inputs(const serialization::Layout& layout, const InputHistory& history,
                     uint8_t lead_quarter_ticks, std::span<uint8_t> out) {
  LATTICE_ASSERT(layout.word_count() == history.word_count());
  const uint32_t wanted = history.window_count();
  if (wanted == 0) return 0;

  BitWriter writer(out);
  const serialization::Word* newer = history.find(history.newest());
  writer.WriteU32(history.newest());
  writer.WriteByte(1);  // a place for the count, which is known only at the end
  writer.WriteByte(lead_quarter_ticks);
  encode_sight(writer, history.sight(history.newest()), history.newest());
  layout.encode_whole(writer, newer);
  if (!writer.ok()) return 0;

  uint32_t count = 1;
  for (; count < wanted; ++count) {
    const BitWriter::Mark before = writer.mark();
    const Tick tick = history.newest() - count;
    const serialization::Word* older = history.find(tick);
    const bool changed = !layout.equal(newer, older);
    writer.WriteBool(changed);
    if (changed) layout.encode_delta(writer, newer, older);
    encode_older_sight(writer, history.sight(tick + 1), history.sight(tick), tick);
    if (!writer.ok()) {
      writer.rewind(before);
      break;
    }
    newer = older;
  }
  const size_t bytes = writer.finish().size();
  out[kCountOffset] = static_cast<uint8_t>(count);
  return bytes;
}

namespace {

// Reads the message into `result`, whose counts mean nothing after a refusal.
InputRefusal read_inputs(const serialization::Layout& layout, std::span<const uint8_t> body, Tick known_until,
                         std::span<serialization::Word> words, DecodedInputs& result) {
  const size_t word_count = layout.word_count();
  BitReader reader(body);
  result.newest_tick = reader.ReadU32();
  result.count = reader.ReadByte();
  result.lead_quarter_ticks = reader.ReadByte();
  if (!reader.ok()) return InputRefusal::kTruncated;
  if (result.count == 0 || result.count > kMaxInputsPerMessage) return InputRefusal::kBadCount;
  // The window of `count` ticks up to newest_tick contains tick 0 exactly when newest_tick is smaller than
  // count.
  if (result.newest_tick < result.count) return InputRefusal::kBadTick;

  serialization::Word* newer = words.data();
  const SightFault fault = decode_sight(reader, result.newest_tick, &result.sights[0]);
  if (!layout.decode_whole(reader, newer)) return InputRefusal::kTruncated;
  if (fault != SightFault::kNone) return refusal_of(fault);
  // By distance, not tick by tick: a tick half of all numbers away is neither before nor after.
  const int32_t after = base::tick_distance(result.newest_tick, known_until);
  const uint32_t wanted = known_until == 0 ? result.count : static_cast<uint32_t>(std::max(after, 1));
  for (result.read_count = 1; result.read_count < result.count; ++result.read_count) {
    const uint32_t i = result.read_count;
    if (i == wanted) return InputRefusal::kNone;
    serialization::Word* older = newer + word_count;
    if (reader.ReadBool()) {
      if (!layout.decode_delta(reader, newer, older)) return InputRefusal::kTruncated;
      if (layout.equal(newer, older)) return InputRefusal::kNotCanonical;
    } else {
      std::copy(newer, older, older);
    }
    const SightFault bad =
        decode_older_sight(reader, result.sights[i - 1], result.newest_tick - i, &result.sights[i]);
    if (!reader.ok()) return InputRefusal::kTruncated;
    if (bad != SightFault::kNone) return refusal_of(bad);
    newer = older;
  }
  if (!reader.ok()) return InputRefusal::kTruncated;
  return reader.at_end() ? InputRefusal::kNone : InputRefusal::kTrailing;
}

}  // namespace

DecodedInputs decode_inputs(const serialization::Layout& layout, std::span<const uint8_t> body,
                            Tick known_until, std::span<serialization::Word> words) {
  LATTICE_ASSERT(words.size() >= layout.word_count() * kMaxInputsPerMessage);
  DecodedInputs result;
  result.refusal = read_inputs(layout, body, known_until, words, result);
  if (result.refusal != InputRefusal::kNone) result.count = result.read_count = 0;
  return result;
}

const char* input_refusal_name(InputRefusal refusal) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_INPUT(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
}

}  // namespace lattice::simulation
