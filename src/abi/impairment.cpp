// Impairments: defaults, named presets, conversion.
#include "abi/impairment.h"

#include "abi/call.h"
#include "abi/struct_size.h"
#include "base/assert.h"

namespace {

double percent(double probability) {
  return probability * 100.0;
}

void write_impairment(const lattice::socket::Impairment& in, lattice_impairment* out) {
  out->delay_ms = in.delay_ms;
  out->jitter_ms = in.jitter_ms;
  out->jitter_reorders = in.jitter_reorders ? 1 : 0;
  out->loss_percent = percent(in.loss);
  out->burst_enter_percent = percent(in.burst_enter);
  out->burst_leave_percent = percent(in.burst_leave);
  out->duplicate_percent = percent(in.duplicate);
  out->reorder_percent = percent(in.reorder);
  out->reorder_ms = in.reorder_delay_ms;
  out->rate_kbit_per_s = static_cast<double>(in.rate_bits_per_s) / 1000.0;
  out->queue_bytes = in.queue_bytes;
  out->blackout = in.blackout ? 1 : 0;
}

}  // namespace

namespace lattice::abi {

lattice_result read_impairment(const lattice_impairment* in, socket::Impairment* out) {
  lattice_impairment value;
  lattice_impairment_init(&value);
  if (const lattice_result bad = read_struct(in, &value, "lattice_impairment")) return bad;
  const struct {
    const char* member;
    double value, max;
  } bounds[] = {{"delay_ms", value.delay_ms, 60000},
                {"jitter_ms", value.jitter_ms, 60000},
                {"loss_percent", value.loss_percent, 100},
                {"burst_enter_percent", value.burst_enter_percent, 100},
                {"burst_leave_percent", value.burst_leave_percent, 100},
                {"duplicate_percent", value.duplicate_percent, 100},
                {"reorder_percent", value.reorder_percent, 100},
                {"reorder_ms", value.reorder_ms, 60000},
                {"rate_kbit_per_s", value.rate_kbit_per_s, 1e9}};
  for (const auto& bound : bounds) {
    if (bound.value >= 0 && bound.value <= bound.max) continue;
    return fail(LATTICE_ERROR_CONFIG, "lattice_impairment.%s is %g. Give a value in 0..%g.", bound.member,
                bound.value, bound.max);
  }
  socket::Impairment result;
  result.delay_ms = value.delay_ms;
  result.jitter_ms = value.jitter_ms;
  result.jitter_reorders = value.jitter_reorders != 0;
  result.loss = value.loss_percent / 100.0;
  result.burst_enter = value.burst_enter_percent / 100.0;
  result.burst_leave = value.burst_leave_percent / 100.0;
  result.duplicate = value.duplicate_percent / 100.0;
  result.reorder = value.reorder_percent / 100.0;
  result.reorder_delay_ms = value.reorder_ms;
  result.rate_bits_per_s = static_cast<uint64_t>(value.rate_kbit_per_s * 1000.0);
  result.queue_bytes = value.queue_bytes;
  result.blackout = value.blackout != 0;
  LATTICE_ASSERT(socket::impairment_error(result) == nullptr);
  *out = result;
  return LATTICE_OK;
}

}  // namespace lattice::abi

extern "C" {

lattice_result lattice_impairment_init_sized(lattice_impairment* impairment, uint32_t struct_size) {
  const lattice::abi::Call call;
  lattice_impairment value{};
  write_impairment(lattice::socket::Impairment{}, &value);
  return lattice::abi::write_defaults(value, impairment, struct_size);
}

lattice_result lattice_impairment_preset(const char* name, lattice_direction direction,
                                         lattice_impairment* out) {
  using lattice::abi::fail;
  const lattice::abi::Call call;
  if (name == nullptr || out == nullptr ||
      (direction != LATTICE_DIRECTION_SEND && direction != LATTICE_DIRECTION_RECEIVE)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_impairment_preset needs a name, one of the two directions and an output.");
  }
  const lattice::socket::NamedImpairment* preset = lattice::socket::find_impairment_preset(name);
  if (preset == nullptr) {
    return fail(LATTICE_ERROR_NOT_FOUND,
                "There is no network preset '%s'. lattice_impairment_preset_name() lists them.", name);
  }
  lattice_impairment value;
  lattice_impairment_init(&value);
  write_impairment(direction == LATTICE_DIRECTION_SEND ? preset->up : preset->down, &value);
  return lattice::abi::write_struct(value, out, "lattice_impairment");
}

const char* lattice_impairment_preset_name(uint32_t index) {
  const lattice::abi::Call call;
  const auto presets = lattice::socket::impairment_presets();
  if (index < presets.size()) return presets[index].name;
  lattice::abi::fail(LATTICE_ERROR_NOT_FOUND, "There is no preset %u; the last is %zu.", index,
                     presets.size() - 1);
  return nullptr;
}

}  // extern "C"
