// lattice_transfer_*: large transfers.
#include "lattice/transfer.h"

#include "abi/last_error.h"
#include "abi/struct_size.h"
#include "abi/world_instance.h"

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
      return fail(LATTICE_ERROR_LIMIT, "A transfer has 1 to lattice_world_config.max_transfer_bytes bytes.");
    case TransferResult::kBadLabel:
      return fail(LATTICE_ERROR_LIMIT, "The label of a transfer has at most %u bytes.",
                  LATTICE_TRANSFER_LABEL_MAX_BYTES);
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

/// The transfers of `conn`'s world, or null with `*result` set.
transfer::Transfers* transfers_of(lattice_conn* conn, world::ConnectionHandle* connection,
                                  lattice_result* result) {
  WorldInstance* instance = abi::require_connection(conn, connection);
  if (instance == nullptr) {
    *result = LATTICE_ERROR_STALE_HANDLE;
    return nullptr;
  }
  if (instance->find({connection->slot, connection->generation})->info.is_connected == 0) {
    *result = fail(LATTICE_ERROR_NOT_ALLOWED, "The connection is not established (yet, or any more).");
    return nullptr;
  }
  transfer::Transfers* transfers = instance->world->transfers();
  if (transfers == nullptr) *result = result_of(TransferResult::kNoChannel);
  return transfers;
}

/// As above, with the transfer `handle` names.
transfer::Transfers* transfers_of(lattice_conn* conn, lattice_transfer handle,
                                  world::ConnectionHandle* connection, transfer::TransferId* id,
                                  lattice_result* result) {
  transfer::Transfers* transfers = transfers_of(conn, connection, result);
  if (transfers == nullptr || abi::transfer_id(handle, id)) return transfers;
  *result = result_of(TransferResult::kNotFound);
  return nullptr;
}

}  // namespace

extern "C" {

lattice_result lattice_set_transfer_callbacks(lattice_world* world,
                                              const lattice_transfer_callbacks* callbacks, void* ctx) {
  WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  lattice_transfer_callbacks value{};
  if (callbacks != nullptr && !abi::read_struct(callbacks, &value)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_transfer_callbacks.struct_size is not set.");
  }
  instance->transfers.set(value, ctx);
  return LATTICE_OK;
}

lattice_result lattice_transfer_start(lattice_conn* conn, const void* data, uint64_t bytes, const void* label,
                                      size_t label_bytes, lattice_transfer* out) {
  world::ConnectionHandle connection;
  lattice_result result = LATTICE_OK;
  transfer::Transfers* transfers = transfers_of(conn, &connection, &result);
  if (transfers == nullptr) return result;
  if (out == nullptr || (label == nullptr && label_bytes != 0)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_transfer_start needs `out`, and the label it counts.");
  }
  transfer::TransferId id;
  const TransferResult started = transfers->start(connection, bytes, static_cast<const uint8_t*>(data),
                                                  {static_cast<const uint8_t*>(label), label_bytes}, &id);
  if (started == TransferResult::kOk) *out = abi::transfer_handle(id);
  return result_of(started);
}

lattice_result lattice_transfer_accept(lattice_conn* conn, lattice_transfer handle, void* memory,
                                       uint64_t capacity) {
  world::ConnectionHandle connection;
  transfer::TransferId id;
  lattice_result result = LATTICE_OK;
  transfer::Transfers* transfers = transfers_of(conn, handle, &connection, &id, &result);
  if (transfers == nullptr) return result;
  if ((memory == nullptr) != (capacity == 0)) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Give memory and its size, or neither.");
  }
  const TransferResult accepted =
      transfers->accept(connection, id, {static_cast<uint8_t*>(memory), static_cast<size_t>(capacity)});
  if (accepted == TransferResult::kBadSize) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The memory must be exactly as large as the offer.");
  }
  return result_of(accepted);
}

lattice_result lattice_transfer_cancel(lattice_conn* conn, lattice_transfer handle) {
  world::ConnectionHandle connection;
  transfer::TransferId id;
  lattice_result result = LATTICE_OK;
  transfer::Transfers* transfers = transfers_of(conn, handle, &connection, &id, &result);
  return transfers == nullptr ? result : result_of(transfers->cancel(connection, id));
}

lattice_result lattice_transfer_hold(lattice_conn* conn, lattice_transfer handle, int held) {
  world::ConnectionHandle connection;
  transfer::TransferId id;
  lattice_result result = LATTICE_OK;
  transfer::Transfers* transfers = transfers_of(conn, handle, &connection, &id, &result);
  return transfers == nullptr ? result : result_of(transfers->hold(connection, id, held != 0));
}

lattice_result lattice_transfer_get_progress(lattice_conn* conn, lattice_transfer handle,
                                             uint64_t* done_bytes, uint64_t* total_bytes) {
  world::ConnectionHandle connection;
  transfer::TransferId id;
  lattice_result result = LATTICE_OK;
  transfer::Transfers* transfers = transfers_of(conn, handle, &connection, &id, &result);
  if (transfers == nullptr) return result;
  if (done_bytes == nullptr || total_bytes == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_transfer_get_progress needs both places to write to.");
  }
  return result_of(transfers->progress(connection, id, done_bytes, total_bytes));
}

}  // extern "C"
