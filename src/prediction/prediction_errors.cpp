#include "prediction/prediction_errors.h"

#include <algorithm>

#include "serialization/layout.h"

namespace lattice::prediction {

void PredictionErrors::add(uint32_t type_id, const serialization::Layout& layout, uint64_t network_id,
                           base::Tick tick, const serialization::Word* predicted,
                           const serialization::Word* truth) {
  for (size_t b = 0; b < layout.behaviour_count(); ++b) {
    for (size_t m = 0; m < layout.behaviours()[b].node_count; ++m) {
      const auto prop_id = static_cast<uint16_t>(b << 8 | m);
      const double error = layout.prediction_error(*layout.member(prop_id), predicted, truth);
      if (error == 0) continue;
      Record& found = record(type_id, layout, prop_id);
      PredictionError& at = found.error;
      if (found.is_taken) at.worst = 0, at.count = 0;
      found.is_taken = false;
      ++at.count;
      if (at.worst >= error) continue;
      at.worst = error;
      at.tick = tick;
      at.network_id = network_id;
    }
  }
}

PredictionErrors::Record& PredictionErrors::record(uint32_t type_id, const serialization::Layout& layout,
                                                   uint16_t prop_id) {
  const auto is_it = [&](const Record& at) {
    return at.error.type_id == type_id && at.error.prop_id == prop_id;
  };
  const auto found = std::find_if(records_.begin(), records_.end(), is_it);
  if (found != records_.end()) return *found;
  Record& made = records_.emplace_back();
  made.error.type_id = type_id;
  made.error.prop_id = prop_id;
  made.error.member = layout.member_name(prop_id);
  return made;
}

const PredictionError* PredictionErrors::take() {
  for (Record& at : records_) {
    if (at.is_taken) continue;
    at.is_taken = true;
    return &at.error;
  }
  return nullptr;
}

}  // namespace lattice::prediction
