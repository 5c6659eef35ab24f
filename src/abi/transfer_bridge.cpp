#include "abi/transfer_bridge.h"

#include "abi/world_instance.h"

namespace lattice::abi {
namespace {

constexpr uint32_t kOutgoingBit = 1u << 16;
constexpr uint32_t kIncomingBit = 1u << 17;

static_assert(LATTICE_TRANSFER_DONE == static_cast<int>(transfer::TransferEnding::kDone));
static_assert(LATTICE_TRANSFER_REFUSED == static_cast<int>(transfer::TransferEnding::kRefused));
static_assert(LATTICE_TRANSFER_CANCELLED == static_cast<int>(transfer::TransferEnding::kCancelled));
static_assert(LATTICE_TRANSFER_FAILED == static_cast<int>(transfer::TransferEnding::kFailed));
static_assert(LATTICE_TRANSFER_TOO_LARGE == static_cast<int>(transfer::TransferEnding::kTooLarge));
static_assert(LATTICE_TRANSFER_CONNECTION_LOST ==
              static_cast<int>(transfer::TransferEnding::kConnectionLost));

}  // namespace

lattice_transfer transfer_handle(transfer::TransferId id) {
  return (id.incoming ? kIncomingBit : kOutgoingBit) | id.number;
}

bool transfer_id(lattice_transfer handle, transfer::TransferId* out) {
  const uint32_t direction = handle & ~uint32_t{0xFFFF};
  if (direction != kOutgoingBit && direction != kIncomingBit) return false;
  *out = {static_cast<uint16_t>(handle), direction == kIncomingBit};
  return true;
}

void TransferBridge::on_offer(transfer::ConnectionHandle connection, transfer::TransferId id,
                              uint64_t size_bytes, std::span<const uint8_t> label) {
  if (callbacks_.on_offer == nullptr) {
    world_.world->transfers()->refuse(connection, id);
    return;
  }
  callbacks_.on_offer(ctx_, world_.handle_of(connection), transfer_handle(id), size_bytes, label.data(),
                      label.size());
}

bool TransferBridge::read(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
                          std::span<uint8_t> out) {
  return callbacks_.read != nullptr &&
         callbacks_.read(ctx_, world_.handle_of(connection), transfer_handle(id), offset, out.data(),
                         out.size()) == 1;
}

bool TransferBridge::write(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
                           std::span<const uint8_t> bytes) {
  return callbacks_.write != nullptr &&
         callbacks_.write(ctx_, world_.handle_of(connection), transfer_handle(id), offset, bytes.data(),
                          bytes.size()) == 1;
}

void TransferBridge::on_progress(transfer::ConnectionHandle connection, transfer::TransferId id,
                                 uint64_t done_bytes, uint64_t size_bytes) {
  if (callbacks_.on_progress == nullptr) return;
  callbacks_.on_progress(ctx_, world_.handle_of(connection), transfer_handle(id), done_bytes, size_bytes);
}

void TransferBridge::on_end(transfer::ConnectionHandle connection, transfer::TransferId id,
                            transfer::TransferEnding ending) {
  if (callbacks_.on_end == nullptr) return;
  callbacks_.on_end(ctx_, world_.handle_of(connection), transfer_handle(id),
                    static_cast<lattice_transfer_ending>(ending));
}

}  // namespace lattice::abi
