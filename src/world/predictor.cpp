// See predictor.h.
#include "world/predictor.h"

#include <utility>

#include "serialization/layout.h"

namespace lattice::world {

Predictor::Predictor(const prediction::ReconcilerConfig& config, replication::ObjectTable& table,
                     StateReceiver& received, PredictionGame& game)
    : reconciler_(config), table_(table), received_(received), game_(game) {}

bool Predictor::set_predicted(uint32_t slot, bool predicted) {
  if (predicts(slot) == predicted) return false;
  if (!predicted) {
    reconciler_.remove(slot);
    received_.update_host(slot);
    return true;
  }
  if (!reconciler_.add(slot, *table_.info(slot).type->layout)) return false;
  received_.host(slot);
  return true;
}

void Predictor::on_state(uint32_t slot, Tick tick, const Word* words) {
  table_.info(slot).type->layout->dequantize_not_predicted(words, table_.host(slot));
  note_news(tick);
}

void Predictor::note_news(Tick tick) {
  if (news_tick_ == 0 || base::tick_after(tick, news_tick_)) news_tick_ = tick;
}

void Predictor::on_part(const replication::SnapshotHeader& header) {
  if (!header.confirms_own) return;
  if (own_tick_ != 0 && !base::tick_after(header.server_tick, own_tick_)) return;
  own_tick_ = header.server_tick;
  note_news(own_tick_);
}

void Predictor::reconcile(Tick present) {
  if (news_tick_ != 0 && reconciler_.begin(news_tick_)) offer_truths(news_tick_);
  news_tick_ = 0;
  reconciler_.reconcile(present, *this);
}

void Predictor::offer_truths(Tick tick) {
  for (size_t i = 0; i < reconciler_.object_count(); ++i) {
    const uint32_t slot = reconciler_.slot(i);
    const Tick newest = received_.newest_tick(slot);
    // The state at that tick is known if an entry of the tick was sent. Without an entry it is known too, if
    // a part of the tick confirms what this side owns.
    const bool is_sent = newest == tick;
    const bool is_confirmed = own_tick_ == tick && table_.owns(slot) && !base::tick_after(newest, tick);
    if (is_sent || is_confirmed) reconciler_.authoritative(slot, received_.newest(slot));
  }
}

void Predictor::end_session() {
  reconciler_.restart();
  own_tick_ = news_tick_ = 0;
}

void Predictor::mispredicted(uint32_t slot, Tick tick, const Word* predicted, const Word* truth) {
  const replication::ObjectType& type = *table_.info(slot).type;
  errors_.add(type.type_id, *type.layout, table_.network_id(slot), tick, predicted, truth);
}

void Predictor::load_state(uint32_t slot, const Word* words) {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  layout.dequantize(words, table_.host(slot));
  if (!layout.predicts_all()) layout.dequantize_not_predicted(received_.newest(slot), table_.host(slot));
}

void Predictor::store_state(uint32_t slot, Word* words) {
  const replication::ObjectType& type = *table_.info(slot).type;
  // After each tick, this overwrites the values that the game wrote into members that are not predicted.
  if (!type.layout->predicts_all()) {
    type.layout->dequantize_not_predicted(received_.newest(slot), table_.host(slot));
  }
  if (type.round_host) {
    type.layout->round(table_.host(slot), words);
  } else {
    type.layout->quantize(std::as_const(table_).host(slot), words);
  }
}

}  // namespace lattice::world
