// Passes events of large transfers to the game's callbacks.
#pragma once

#include "lattice/transfer.h"
#include "transfer/transfer_handler.h"

namespace lattice::abi {

struct WorldInstance;

/// {number, incoming} as the game's handle: never 0.
lattice_transfer transfer_handle(transfer::TransferId id);
/// False when transfer_handle() did not make `handle`.
bool transfer_id(lattice_transfer handle, transfer::TransferId* out);

class TransferBridge final : public transfer::TransferHandler {
 public:
  explicit TransferBridge(const WorldInstance& world) : world_(world) {}

  void set(const lattice_transfer_callbacks& callbacks, void* ctx) {
    callbacks_ = callbacks;
    ctx_ = ctx;
  }
  bool has_read() const { return callbacks_.read != nullptr; }
  bool has_write() const { return callbacks_.write != nullptr; }

  void on_offer(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t size_bytes,
                std::span<const uint8_t> label) override;
  bool read(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
            std::span<uint8_t> out) override;
  bool write(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
             std::span<const uint8_t> bytes) override;
  void on_progress(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t done_bytes,
                   uint64_t size_bytes) override;
  void on_end(transfer::ConnectionHandle connection, transfer::TransferId id,
              transfer::TransferEnding ending) override;

 private:
  const WorldInstance& world_;
  lattice_transfer_callbacks callbacks_{};
  void* ctx_ = nullptr;
};

}  // namespace lattice::abi
