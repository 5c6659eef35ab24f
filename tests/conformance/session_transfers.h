// Large transfers both ways, with every control message, for a recorded session.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "fragment/fragmenting_endpoint.h"
#include "transfer/transfers.h"
#include "unit/reliability/endpoint_rig.h"

namespace lattice::test {

inline constexpr uint8_t kSessionBulkChannel = 12;

/// One end. Declared before the endpoints, which ask it for chunks.
class SessionTransfers final : private transfer::TransferLink, private transfer::TransferHandler {
 public:
  using Node = NodeOf<fragment::FragmentingEndpoint>;

  SessionTransfers();

  void prepare(reliability::EndpointConfig* config);
  void attach(Node& node);
  /// Call before the endpoint's update: runs this end's own actions up to tick `tick`.
  void step(uint32_t tick);
  /// The accepted offer has arrived completely, and the other two transfers have ended as expected.
  bool finished() const;

 private:
  bool send_control(transfer::ConnectionHandle connection, std::span<const uint8_t> body) override;
  void close(transfer::ConnectionHandle connection) override;
  void wake(transfer::ConnectionHandle connection) override;

  void on_offer(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t size_bytes,
                std::span<const uint8_t> label) override;
  bool read(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
            std::span<uint8_t> out) override;
  bool write(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
             std::span<const uint8_t> bytes) override;
  void on_progress(transfer::ConnectionHandle, transfer::TransferId, uint64_t, uint64_t) override {}
  void on_end(transfer::ConnectionHandle connection, transfer::TransferId id,
              transfer::TransferEnding ending) override;

  void offer(uint64_t size_bytes, const char* label);

  transfer::Transfers transfers_;
  Node* node_ = nullptr;
  std::map<uint16_t, std::vector<uint8_t>> incoming_;
  std::map<uint16_t, transfer::TransferEnding> in_ended_, out_ended_;
};

}  // namespace lattice::test
