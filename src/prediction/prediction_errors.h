// How far the predictions of a client were wrong, by member: the worst error and how many there were since
// the game last took them. Costs nothing while predictions are right. Source: §11.2, S-02.
//
// Must stay true: a record is about one member of one type. So there are never more records than the schema
// has members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/tick.h"
#include "serialization/word.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

struct PredictionError {
  uint32_t type_id = 0;
  uint16_t prop_id = 0;     ///< (behaviour << 8) | member
  std::string member;       ///< "behaviour.member"
  double worst = 0;         ///< Layout::prediction_error()
  base::Tick tick = 0;      ///< when that was
  uint64_t network_id = 0;  ///< the object that it was
  uint64_t count = 0;       ///< states of which the member was predicted wrong
};

class PredictionErrors {
 public:
  /// The state of an object at `tick` was predicted wrong.
  void add(uint32_t type_id, const serialization::Layout& layout, uint64_t network_id, base::Tick tick,
           const serialization::Word* predicted, const serialization::Word* truth);
  /// Takes the errors of one member, or returns null when all were taken. What it returns is valid until the
  /// next add(), its name as long as this room.
  const PredictionError* take();

 private:
  struct Record {
    PredictionError error;
    bool is_taken = true;
  };
  Record& record(uint32_t type_id, const serialization::Layout& layout, uint16_t prop_id);

  std::deque<Record> records_;  // what was handed out stays where it is
};

}  // namespace lattice::prediction
