// Connects the packets of a connection with its Pacer: acks and losses go in, the send budget comes out
// (§6; C-01…C-03, R-07, R-14).
#include <algorithm>

#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"

namespace lattice::reliability {
namespace {

// What `allowance` leaves for messages with is_snapshot. Reliable messages go first, but leave a quarter.
// EngineShare hands it out datagram by datagram.
uint64_t engine_part(uint64_t allowance, uint64_t reliable_bytes, uint64_t engine_bytes) {
  const uint64_t taken = std::min(reliable_bytes, allowance - allowance / 4) + engine_bytes;
  return allowance > taken ? allowance - taken : 0;
}

}  // namespace

PathState Connection::path_state() const {
  return {now_ns(), rtt_.srtt_ns(), rtt_.min_rtt_ns(now_ns()), rtt_.rto_ns()};
}

void Connection::detect_losses(const AckResult* ack, uint64_t rtt_sample_ns) {
  Notifier notifier(*this);
  AckFeedback feedback;
  feedback.lost_packets = history_.detect_losses(now_ns(), rtt_, notifier);
  if (ack != nullptr) {
    feedback.acked_packets = ack->newly_acked;
    feedback.acked_bytes = ack->newly_acked_bytes;
    feedback.spurious_packets = ack->spurious;
  }
  feedback.has_rtt = rtt_sample_ns != kNoSample;
  if (feedback.lost_packets + feedback.acked_packets + feedback.spurious_packets == 0 && !feedback.has_rtt) {
    return;
  }
  feedback.path = path_state();
  feedback.rtt_ns = feedback.has_rtt ? rtt_sample_ns : 0;
  feedback.answer_ns = feedback.has_rtt ? rtt_.latest_ns() : 0;
  feedback.bytes_in_flight = history_.bytes_in_flight();
  pacer_.on_feedback(feedback, history_.largest_acked());
}

uint64_t Connection::send_budget_bytes(uint64_t at_ns, uint64_t during_ns) {
  if (!connected() || history_.is_full()) return 0;
  PathState path = path_state();
  path.now_ns = std::max(at_ns, now_ns());
  pacer_.update(path);
  const uint64_t in_flight = history_.bytes_in_flight();
  const uint64_t allowance = pacer_.allowance_bytes(in_flight);
  if (allowance == Pacer::kUnlimited) return allowance;
  if (allowance == 0) return 0;
  const uint64_t reliable_bytes = outgoing_channels_.reliable_waiting_bytes();
  const uint64_t engine_bytes = outgoing_channels_.engine_bytes();
  uint64_t now = engine_part(allowance, reliable_bytes, engine_bytes);
  if (engine_bytes == 0) now = std::max(now, kDatagramBytes);
  // What leaves later is made only together with something that leaves now.
  if (during_ns == 0 || now < kDatagramBytes) return now;
  const uint64_t later = pacer_.allowance_bytes_during(during_ns, path, in_flight);
  return std::max(now,
                  engine_part(later, reliable_bytes + outgoing_channels_.application_bytes(), engine_bytes));
}

}  // namespace lattice::reliability
