// See input_receiver.h.
#include "world/input_receiver.h"

#include <cstring>

#include "simulation/input_codec.h"

namespace lattice::world {
namespace {

void add(simulation::InputBufferStats* sum, const simulation::InputBufferStats& part) {
  sum->messages += part.messages;
  sum->over_rate += part.over_rate;
  sum->accepted += part.accepted;
  sum->duplicates += part.duplicates;
  sum->conflicting += part.conflicting;
  sum->late += part.late;
  sum->too_early += part.too_early;
  sum->sights_future += part.sights_future;
  sum->sights_old += part.sights_old;
  sum->fresh += part.fresh;
  sum->repeated += part.repeated;
  sum->defaulted += part.defaulted;
}

}  // namespace

InputReceiver::InputReceiver(const serialization::Layout& layout, const simulation::InputBufferConfig& config,
                             uint32_t max_clients)
    : layout_(layout),
      config_(config),
      buffers_(max_clients),
      default_(layout.word_count()),
      scratch_(size_t{simulation::kMaxInputsPerMessage} * layout.word_count()),
      host_(layout) {
  layout.zero_baseline(default_.data());
}

void InputReceiver::open(uint32_t client, Tick tick) {
  buffers_[client] = std::make_unique<simulation::InputBuffer>(config_, default_, tick);
}

void InputReceiver::close(uint32_t client, Tick tick) {
  take(client, tick);
  add(&closed_, buffers_[client]->stats());
  buffers_[client].reset();
}

bool InputReceiver::receive(uint32_t client, std::span<const uint8_t> body, Tick tick,
                            simulation::TickTime position) {
  simulation::InputBuffer& buffer = *buffers_[client];
  if (!buffer.admit(tick)) return true;
  buffer.take_up_to(tick);
  const simulation::DecodedInputs decoded =
      simulation::decode_inputs(layout_, body, buffer.known_until(), scratch_);
  if (decoded.refusal != simulation::InputRefusal::kNone) {
    refusals_.add(decoded.refusal);
    return false;
  }
  buffer.receive(decoded, scratch_, position);
  return true;
}

void InputReceiver::skip(Tick ran, Tick tick) {
  for (const std::unique_ptr<simulation::InputBuffer>& buffer : buffers_) {
    if (buffer) buffer->skip(ran, tick);
  }
}

simulation::InputSource InputReceiver::read(uint32_t client, Tick tick, void* out) {
  const simulation::TakenInput& taken = take(client, tick);
  layout_.dequantize(taken.words, host_.behaviours());
  std::memcpy(out, host_.behaviours()[0], layout_.host_bytes(0));
  return taken.source;
}

bool InputReceiver::sight(uint32_t client, Tick tick, InputSight* out) const {
  const simulation::TakenInput& taken = take(client, tick);
  if (taken.source == simulation::InputSource::kDefault) return false;
  *out = {taken.input_tick, taken.sight, buffers_[client]->lead_quarter_ticks(), taken.sight_clamped};
  return true;
}

void InputReceiver::report(uint32_t client, Tick tick, replication::SnapshotHeader* header) {
  take(client, tick);
  header->has_input = true;
  header->last_input_tick = buffers_[client]->last_input_tick();
  header->input_margin = buffers_[client]->margin_quarter_ticks();
}

simulation::InputBufferStats InputReceiver::stats(Tick tick) const {
  simulation::InputBufferStats sum = closed_;
  for (uint32_t client = 0; client < buffers_.size(); ++client) {
    if (!buffers_[client]) continue;
    take(client, tick);
    add(&sum, buffers_[client]->stats());
  }
  return sum;
}

}  // namespace lattice::world
