// lattice_transfer_*: large transfers.
#include "lattice/transfer.h"

#include <cinttypes>

#include "abi/call.h"
#include "abi/struct_size.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;
using transfer::TransferResult;

static_assert(LATTICE_TRANSFER_LABEL_MAX_BYTES == wire::kMaxTransferLabelBytes);

lattice_result result_of(TransferResult result) {
  switch (result) {
    case TransferResult::kOk:
      return LATTICE_OK;
    case TransferResult::kNotFound:
      return fail(LATTICE_ERROR_NOT_FOUND, "The connection has no such transfer, or it has ended.");
    case TransferResult::kBadState:
      return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                  "Only an open offer of the peer can be accepted, and only an accepted one held.");
    case TransferResult::kBadSize:
    case TransferResult::kBadLabel:  // The caller has said which number it was.
      return LATTICE_ERROR_LIMIT;
    case TransferResult::kTooMany:
      return fail(LATTICE_ERROR_LIMIT, "%zu transfers are on their way. Start another when one has ended.",
                  transfer::kMaxTransfers);
    case TransferResult::kWouldBlock:
      return fail(LATTICE_ERROR_WOULD_BLOCK, "The control channel is full. Try again after the next pump.");
    case TransferResult::kNoChannel:
      break;
  }
  return fail(LATTICE_ERROR_NOT_ALLOWED,
              "lattice_world_config.transfer_channel is 0. Name one on both ends.");
}

/// The transfers of the connection's world, or null with the error set.
transfer::Transfers* transfers_of(const abi::ConnectionCall& call) {
  if (call.world() == nullptr) return nullptr;
  if (call.entry().info.is_connected == 0) {
    abi::fail_not_established(*call.world(), call.entry());
    return nullptr;
  }
  transfer::Transfers* transfers = call.world()->world->transfers();
  if (transfers == nullptr) result_of(TransferResult::kNoChannel);
  return transfers;
}

/// The same, and `id` gets the transfer of `handle`.
transfer::Transfers* transfers_of(const abi::ConnectionCall& call, lattice_transfer handle,
                                  transfer::TransferId* id) {
  transfer::Transfers* transfers = transfers_of(call);
  if (transfers == nullptr || abi::transfer_id(handle, id)) return transfers;
  result_of(TransferResult::kNotFound);
  return nullptr;
}

}  // namespace

extern "C" {

lattice_result lattice_set_transfer_callbacks(lattice_world* world,
                                              const lattice_transfer_callbacks* callbacks, void* ctx) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  lattice_transfer_callbacks value{};
  if (callbacks != nullptr) {
    if (const lattice_result bad = abi::read_struct(callbacks, &value, "lattice_transfer_callbacks"))
      return bad;
  }
  instance->transfers.set(value, ctx);
  return LATTICE_OK;
}

lattice_result lattice_transfer_start(lattice_conn* conn, const void* data, uint64_t bytes, const void* label,
                                      size_t label_bytes, lattice_transfer* out) {
  const abi::ConnectionCall call(conn);
  if (call.world() == nullptr) return call.result();
  if (out == nullptr || (label == nullptr && label_bytes != 0)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_transfer_start needs `out`, and the label it counts.");
  }
  transfer::Transfers* transfers = transfers_of(call);
  if (transfers == nullptr) return call.result();
  if (data == nullptr && !call.world()->transfers.has_read()) {
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "data is NULL and lattice_transfer_callbacks.read is not set. Give the data, or set the callback "
        "first.");
  }
  transfer::TransferId id;
  const TransferResult started = transfers->start(call.connection(), bytes, static_cast<const uint8_t*>(data),
                                                  {static_cast<const uint8_t*>(label), label_bytes}, &id);
  if (started == TransferResult::kBadSize) {
    return fail(LATTICE_ERROR_LIMIT,
                "The transfer has %" PRIu64 " bytes. It may have 1 to %" PRIu64
                " (lattice_world_config.max_transfer_bytes).",
                bytes, transfers->max_size_bytes());
  }
  if (started == TransferResult::kBadLabel) {
    return fail(LATTICE_ERROR_LIMIT, "The label has %zu bytes. It may have at most %u.", label_bytes,
                LATTICE_TRANSFER_LABEL_MAX_BYTES);
  }
  if (started == TransferResult::kOk) *out = abi::transfer_handle(id);
  return result_of(started);
}

lattice_result lattice_transfer_accept(lattice_conn* conn, lattice_transfer handle, void* memory,
                                       uint64_t capacity) {
  const abi::ConnectionCall call(conn);
  transfer::TransferId id;
  transfer::Transfers* transfers = transfers_of(call, handle, &id);
  if (transfers == nullptr) return call.result();
  if ((memory == nullptr) != (capacity == 0)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Give memory and its size, or neither.");
  }
  if (memory == nullptr && !call.world()->transfers.has_write()) {
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "memory is NULL and lattice_transfer_callbacks.write is not set. Give memory, or set the callback "
        "first.");
  }
  const TransferResult accepted = transfers->accept(
      call.connection(), id, {static_cast<uint8_t*>(memory), static_cast<size_t>(capacity)});
  if (accepted == TransferResult::kBadSize) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The memory must be exactly as large as the offer.");
  }
  return result_of(accepted);
}

lattice_result lattice_transfer_cancel(lattice_conn* conn, lattice_transfer handle) {
  const abi::ConnectionCall call(conn);
  transfer::TransferId id;
  transfer::Transfers* transfers = transfers_of(call, handle, &id);
  return transfers == nullptr ? call.result() : result_of(transfers->cancel(call.connection(), id));
}

lattice_result lattice_transfer_hold(lattice_conn* conn, lattice_transfer handle, int held) {
  const abi::ConnectionCall call(conn);
  transfer::TransferId id;
  transfer::Transfers* transfers = transfers_of(call, handle, &id);
  return transfers == nullptr ? call.result() : result_of(transfers->hold(call.connection(), id, held != 0));
}

lattice_result lattice_transfer_get_progress(lattice_conn* conn, lattice_transfer handle,
                                             uint64_t* done_bytes, uint64_t* total_bytes) {
  const abi::ConnectionCall call(conn);
  if (call.world() == nullptr) return call.result();
  if (done_bytes == nullptr || total_bytes == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_transfer_get_progress needs both places to write to.");
  }
  transfer::TransferId id;
  transfer::Transfers* transfers = transfers_of(call, handle, &id);
  if (transfers == nullptr) return call.result();
  return result_of(transfers->progress(call.connection(), id, done_bytes, total_bytes));
}

const char* lattice_transfer_ending_name(lattice_transfer_ending ending) {
  switch (ending) {
    case LATTICE_TRANSFER_DONE:
      return "done";
    case LATTICE_TRANSFER_REFUSED:
      return "refused";
    case LATTICE_TRANSFER_CANCELLED:
      return "cancelled";
    case LATTICE_TRANSFER_FAILED:
      return "failed";
    case LATTICE_TRANSFER_TOO_LARGE:
      return "too_large";
    case LATTICE_TRANSFER_CONNECTION_LOST:
      return "connection_lost";
  }
  return "unknown";
}

}  // extern "C"
