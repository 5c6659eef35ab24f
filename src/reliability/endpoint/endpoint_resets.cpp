// Stateless resets (states.md, "Stateless reset"). The server sends each client a token. After a restart the
// server no longer knows the connection and answers the client's packets with that token. The client then
// knows that its connection is gone.
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {

void Endpoint::Core::refuse_unknown(const base::PathId& from, const wire::PacketHeader& header,
                                    size_t header_bytes, size_t datagram_bytes) {
  using Outcome = connection::StatelessResets::Outcome;
  const Outcome outcome =
      resets ? resets->answer(from, header, header_bytes, datagram_bytes, context.clock.now_ns(), batch)
             : Outcome::kNone;
  switch (outcome) {
    case Outcome::kSent:
      ++stats.resets_sent;
      count(Refusal::kUnknownConnection);
      return;
    case Outcome::kPrefixRate:
      count(Refusal::kResetRate);
      return;
    case Outcome::kBudget:
      count(Refusal::kResetBudget);
      return;
    case Outcome::kNone:
      count(Refusal::kUnknownConnection);
      return;
  }
}

}  // namespace lattice::reliability
