// See input_sender.h.
#include "world/input_sender.h"

#include <cstring>

#include "simulation/input_codec.h"

namespace lattice::world {

InputSender::InputSender(const serialization::Layout& layout, const simulation::InputHistoryConfig& config)
    : layout_(layout), history_(layout.word_count(), config), words_(layout.word_count()), host_(layout) {}

bool InputSender::sample(Tick tick, const void* const* input, const simulation::Sight& sight) {
  const bool fits = layout_.quantize(input, words_.data());
  history_.push(tick, words_, sight);
  return fits;
}

bool InputSender::read(Tick tick, void* out) {
  const serialization::Word* words = history_.find(tick);
  if (words == nullptr) return false;
  layout_.dequantize(words, host_.behaviours());
  std::memcpy(out, host_.behaviours()[0], layout_.host_bytes(0));
  return true;
}

bool InputSender::sight(Tick tick, simulation::Sight* out) const {
  if (history_.find(tick) == nullptr) return false;
  *out = history_.sight(tick);
  return true;
}

// The other side has run the part's tick: it will use no input up to it any more.
void InputSender::on_part(const replication::SnapshotHeader& header) {
  if (!header.has_input || !base::tick_after(header.server_tick, acked_tick_)) return;
  acked_tick_ = header.server_tick;
  margin_quarter_ticks_ = header.input_margin;
  history_.acknowledge(header.server_tick);
}

bool InputSender::send(fragment::FragmentingEndpoint& endpoint, reliability::ConnectionHandle connection,
                       uint8_t lead_quarter_ticks, uint64_t now_ns) {
  if (history_.newest() == history_.newest_sent()) return false;
  // Without a budget the inputs wait and go together later: a message holds all inputs that are not yet
  // acknowledged (C-06).
  if (endpoint.send_budget_bytes(connection, now_ns) == 0) return false;
  uint8_t body[reliability::kMaxSnapshotBody];
  const size_t bytes = simulation::encode_inputs(layout_, history_, lead_quarter_ticks, body);
  reliability::MessageFlags flags;
  flags.is_snapshot = true;
  if (bytes == 0 || endpoint.send(connection, wire::Channel::kUnreliableSequenced, flags, {body, bytes}) !=
                        reliability::SendResult::kOk) {
    return false;
  }
  history_.mark_sent(history_.newest());
  return true;
}

void InputSender::clear() {
  history_.clear();
  acked_tick_ = 0;
}

}  // namespace lattice::world
