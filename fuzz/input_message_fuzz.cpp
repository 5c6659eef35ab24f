// Input messages (T-05): for any bytes, decoding stays in bounds, an accepted message has only one encoding,
// and the jitter buffer gives one input per tick.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/assert.h"
#include "simulation/input_buffer.h"
#include "simulation/input_codec.h"
#include "unit/simulation/input_layout.h"

namespace {

using namespace lattice::simulation;

void check_one_encoding(const lattice::serialization::Layout& layout, const DecodedInputs& decoded,
                        std::span<const lattice::serialization::Word> words, std::span<const uint8_t> body) {
  InputHistory history(layout.word_count());
  for (uint32_t i = decoded.count; i-- > 0;) {
    history.push(decoded.newest_tick - i, words.subspan(i * layout.word_count(), layout.word_count()),
                 decoded.sights[i]);
  }
  std::array<uint8_t, 2048> again;
  const size_t bytes = encode_inputs(layout, history, decoded.lead_quarter_ticks, again);
  LATTICE_CHECK(bytes == body.size() && std::equal(body.begin(), body.end(), again.begin()));
}

void check_buffer(const lattice::serialization::Layout& layout, const DecodedInputs& decoded,
                  std::span<const lattice::serialization::Word> words, Tick server_tick) {
  std::vector<lattice::serialization::Word> none(layout.word_count());
  layout.zero_baseline(none.data());
  InputBuffer buffer(InputBufferConfig{}, none, server_tick);
  buffer.receive(decoded, words, TickTime{server_tick, 0.25});
  LATTICE_CHECK(buffer.depth() <= kJitterBufferTicks);
  for (Tick tick = server_tick + 1; tick != server_tick + 1 + kJitterBufferTicks; ++tick) {
    const TakenInput input = buffer.take(tick);
    if (input.sight.view_tick != 0) {
      const double age = ticks_between({tick, 0.0}, view_time(input.sight));
      LATTICE_CHECK(age >= 1 && age <= InputBufferConfig{}.history_ticks);
    }
    const std::vector<lattice::serialization::Word> first(input.words, input.words + layout.word_count());
    buffer.receive(decoded, words, TickTime{tick, 0.0});
    LATTICE_CHECK(std::equal(first.begin(), first.end(), buffer.take(tick).words));
  }
}

/// A server that ran `last_run` reads no more than it can use, and that as it is in the whole message.
void check_partial(const lattice::serialization::Layout& layout, const DecodedInputs& whole,
                   std::span<const lattice::serialization::Word> words, std::span<const uint8_t> body,
                   Tick last_run) {
  if (last_run == 0) return;
  std::vector<lattice::serialization::Word> part(words.size());
  const DecodedInputs decoded = decode_inputs(layout, body, last_run, part);
  LATTICE_CHECK(decoded.count == whole.count && decoded.read_count <= whole.count);
  LATTICE_CHECK(std::equal(words.begin(),
                           words.begin() + static_cast<ptrdiff_t>(decoded.read_count * layout.word_count()),
                           part.begin()));
  std::vector<lattice::serialization::Word> none(layout.word_count());
  layout.zero_baseline(none.data());
  InputBuffer buffer(InputBufferConfig{}, none, last_run);
  InputBuffer other(InputBufferConfig{}, none, last_run);
  buffer.receive(decoded, part, TickTime{last_run, 0.25});
  other.receive(whole, words, TickTime{last_run, 0.25});
  LATTICE_CHECK(buffer.depth() == other.depth());
  // A window half of all numbers away is partly before, partly after: read or not, it is of no use.
  const bool is_near = std::abs(int64_t{lattice::base::tick_distance(whole.newest_tick, last_run)}) < 1000;
  LATTICE_CHECK(!is_near || buffer.stats().late == other.stats().late);
  LATTICE_CHECK(!is_near || buffer.stats().duplicates == other.stats().duplicates);
  if (!is_near) return;
  // The same message again brings nothing, and of what is there only the newest input is read.
  const DecodedInputs again = decode_inputs(layout, body, other.known_until(), part);
  LATTICE_CHECK(again.count == whole.count && again.read_count <= decoded.read_count);
  const uint64_t accepted = other.stats().accepted;
  other.receive(again, part, TickTime{last_run, 0.25});
  LATTICE_CHECK(other.depth() == buffer.depth() && other.stats().accepted == accepted);
  LATTICE_CHECK(other.stats().conflicting == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1500) return 0;
  static const lattice::serialization::Layout layout = test::move_input_layout();
  static std::vector<lattice::serialization::Word> words(layout.word_count() * kMaxInputsPerMessage);
  const std::span<const uint8_t> body(data, size);
  const DecodedInputs decoded = decode_inputs(layout, body, 0, words);
  LATTICE_CHECK((decoded.refusal == InputRefusal::kNone) == (decoded.count != 0));
  if (decoded.count == 0) return 0;
  check_one_encoding(layout, decoded, words, body);
  check_buffer(layout, decoded, words, decoded.newest_tick - 5);
  check_buffer(layout, decoded, words, decoded.newest_tick + 5);
  for (const int32_t ahead : {-40, -5, -1, 0, 1, 5}) {
    for (const uint32_t turn : {0u, uint32_t{1} << 31}) {
      check_partial(layout, decoded, words, body, decoded.newest_tick - static_cast<uint32_t>(ahead) + turn);
    }
  }
  return 0;
}
