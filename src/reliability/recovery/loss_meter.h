// What share of the packets of a connection is lost, in each direction, second by second (the loss_out and
// loss_in of ConnectionStats).
//
//   out   packets that ask for an ack: declared lost, less those that were acked after all, of those sent
//   in    gaps in the numbers received, less those that a sender leaves out (SkipAllowance)
//
// A second is closed by the first look after it: at a packet, in an update, or at a question for statistics.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reliability/recovery/number_skipper.h"
#include "reliability/recovery/sent_packet_history.h"

namespace lattice::reliability {

class LossMeter {
 public:
  /// The connection begins in `second`.
  void begin(uint64_t second) { second_ = second; }

  /// The second that is being counted ends: close() must follow before anything more is counted.
  bool is_over(uint64_t second) const { return second > second_; }
  /// `sent` counts what this side sent; of the other side `received` packets arrived, of numbers up to
  /// `highest`. A direction without traffic keeps its last ratio.
  void close(uint64_t second, const HistoryCounters& sent, uint64_t highest, uint64_t received);

  /// Ratios in the last whole second that had traffic; 0 to 1.
  double out() const { return out_; }
  double in() const { return in_; }

  /// What every packet reads lies between here and the end of `this`.
  const void* hot_begin() const { return &second_; }

 private:
  uint64_t tracked_ = 0;
  uint64_t lost_ = 0;
  uint64_t spurious_ = 0;
  uint64_t highest_ = 0;
  uint64_t missing_ = 0;
  SkipAllowance skip_allowance_;
  double out_ = 0;
  double in_ = 0;
  uint64_t second_ = 0;  ///< Last: every packet reads it, and none the rest.
};

}  // namespace lattice::reliability
