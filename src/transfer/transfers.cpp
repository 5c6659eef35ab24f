// The application's side, and outgoing chunks. transfers_receive.cpp processes the messages of a peer.
#include "transfer/transfers.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::transfer {
namespace {

// The endpoint's number of a chunk: the slot of its transfer, and its name within the transfer.
static_assert(kMaxChunksInFlight <= 1u << 16 && kMaxTransfers <= 1u << 16);
constexpr uint32_t chunk_name(size_t slot, uint32_t name) {
  return static_cast<uint32_t>(slot) << 16 | name;
}

}  // namespace

Transfers::Transfers(const TransferConfig& config, TransferLink& link, TransferHandler& handler)
    : config_(config), link_(link), handler_(handler), lanes_(config.max_connections) {
  LATTICE_ASSERT(config.max_size_bytes <= wire::kMaxTransferBytes);
}

Transfers::~Transfers() = default;

// --- Look-up

Transfers::Lane* Transfers::lane_of(ConnectionHandle connection) const {
  if (connection.slot >= lanes_.size()) return nullptr;
  Lane* lane = lanes_[connection.slot].get();
  return lane != nullptr && lane->connection == connection ? lane : nullptr;
}

Transfers::Lane& Transfers::lane_for(ConnectionHandle connection) {
  LATTICE_ASSERT(connection.slot < lanes_.size());
  std::unique_ptr<Lane>& lane = lanes_[connection.slot];
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->connection = connection;
    ++lane_count_;
  }
  LATTICE_ASSERT(lane->connection == connection);  // on_disconnected() freed the previous lane
  return *lane;
}

Transfers::Outgoing* Transfers::find_out(Lane* lane, uint16_t id) {
  if (lane == nullptr) return nullptr;
  for (const auto& entry : lane->out) {
    if (entry && entry->transfer.id() == id && !entry->transfer.ended()) return entry.get();
  }
  return nullptr;
}

std::unique_ptr<Transfers::Incoming>* Transfers::find_in(Lane* lane, uint16_t id) {
  if (lane == nullptr) return nullptr;
  for (auto& entry : lane->in) {
    if (entry && entry->transfer.id() == id) return &entry;
  }
  return nullptr;
}

// --- The application's side

TransferResult Transfers::start(ConnectionHandle connection, uint64_t size_bytes, const uint8_t* data,
                                std::span<const uint8_t> label, TransferId* out) {
  if (config_.channel == 0) return TransferResult::kNoChannel;
  if (size_bytes == 0 || size_bytes > config_.max_size_bytes) return TransferResult::kBadSize;
  if (label.size() > wire::kMaxTransferLabelBytes) return TransferResult::kBadLabel;
  if (connection.slot >= lanes_.size()) return TransferResult::kWouldBlock;
  Lane& lane = lane_for(connection);
  const auto free = std::find(lane.out.begin(), lane.out.end(), nullptr);
  if (free == lane.out.end()) return TransferResult::kTooMany;
  wire::TransferOffer offer;
  offer.id = static_cast<uint16_t>(lane.out_count + 1);
  if (find_out(&lane, offer.id) != nullptr) return TransferResult::kTooMany;  // 65,535 offers ago, still open
  offer.size_bytes = size_bytes;
  offer.label = label;
  std::array<uint8_t, wire::kMaxTransferControlBytes> body;
  const size_t bytes = wire::encode_transfer_offer(offer, body);
  if (!link_.send_control(connection, std::span(body).first(bytes))) return TransferResult::kWouldBlock;
  ++lane.out_count;
  *free = std::make_unique<Outgoing>(OutgoingTransfer(offer.id, size_bytes));
  (*free)->data = data;
  *out = {offer.id, false};
  return TransferResult::kOk;
}

TransferResult Transfers::accept(ConnectionHandle connection, TransferId transfer,
                                 std::span<uint8_t> memory) {
  if (!transfer.incoming) return TransferResult::kBadState;
  std::unique_ptr<Incoming>* entry = find_in(lane_of(connection), transfer.number);
  if (entry == nullptr) return TransferResult::kNotFound;
  if ((*entry)->transfer.accepted()) return TransferResult::kBadState;
  if (!memory.empty() && memory.size() != (*entry)->transfer.size_bytes()) return TransferResult::kBadSize;
  std::array<uint8_t, wire::kMaxTransferControlBytes> body;
  const size_t bytes = wire::encode_transfer_accept(transfer.number, body);
  if (!link_.send_control(connection, std::span(body).first(bytes))) return TransferResult::kWouldBlock;
  (*entry)->transfer.accept();
  (*entry)->memory = memory.data();
  return TransferResult::kOk;
}

TransferResult Transfers::cancel(ConnectionHandle connection, TransferId transfer) {
  Lane* lane = lane_of(connection);
  if (!transfer.incoming) {
    Outgoing* entry = find_out(lane, transfer.number);
    if (entry == nullptr) return TransferResult::kNotFound;
    if (!send_end(connection, transfer.number, wire::TransferSide::kSender,
                  wire::TransferEndReason::kCancelled)) {
      return TransferResult::kWouldBlock;
    }
    entry->transfer.end();
    return TransferResult::kOk;
  }
  std::unique_ptr<Incoming>* entry = find_in(lane, transfer.number);
  if (entry == nullptr) return TransferResult::kNotFound;
  const auto reason =
      (*entry)->transfer.accepted() ? wire::TransferEndReason::kCancelled : wire::TransferEndReason::kRefused;
  if (!send_end(connection, transfer.number, wire::TransferSide::kReceiver, reason)) {
    return TransferResult::kWouldBlock;
  }
  entry->reset();
  return TransferResult::kOk;
}

void Transfers::refuse(ConnectionHandle connection, TransferId offer) {
  std::unique_ptr<Incoming>* entry = offer.incoming ? find_in(lane_of(connection), offer.number) : nullptr;
  if (entry == nullptr || (*entry)->transfer.accepted()) return;
  entry->reset();
  owe_end(connection, offer.number, wire::TransferSide::kReceiver, wire::TransferEndReason::kRefused);
}

TransferResult Transfers::hold(ConnectionHandle connection, TransferId transfer, bool held) {
  Lane* lane = lane_of(connection);
  if (!transfer.incoming) {
    Outgoing* entry = find_out(lane, transfer.number);
    if (entry == nullptr) return TransferResult::kNotFound;
    entry->transfer.hold_here(held);
    if (!held) link_.wake(connection);
    return TransferResult::kOk;
  }
  std::unique_ptr<Incoming>* entry = find_in(lane, transfer.number);
  if (entry == nullptr) return TransferResult::kNotFound;
  if (!(*entry)->transfer.accepted()) return TransferResult::kBadState;
  if ((*entry)->held == held) return TransferResult::kOk;
  std::array<uint8_t, wire::kMaxTransferControlBytes> body;
  const size_t bytes = wire::encode_transfer_hold({transfer.number, held}, body);
  if (!link_.send_control(connection, std::span(body).first(bytes))) return TransferResult::kWouldBlock;
  (*entry)->held = held;
  return TransferResult::kOk;
}

TransferResult Transfers::progress(ConnectionHandle connection, TransferId transfer, uint64_t* done_bytes,
                                   uint64_t* size_bytes) const {
  Lane* lane = lane_of(connection);
  if (transfer.incoming) {
    const std::unique_ptr<Incoming>* entry = find_in(lane, transfer.number);
    if (entry == nullptr) return TransferResult::kNotFound;
    *done_bytes = (*entry)->transfer.received_bytes();
    *size_bytes = (*entry)->transfer.size_bytes();
    return TransferResult::kOk;
  }
  const Outgoing* entry = find_out(lane, transfer.number);
  if (entry == nullptr) return TransferResult::kNotFound;
  *done_bytes = entry->transfer.acked_bytes();
  *size_bytes = entry->transfer.size_bytes();
  return TransferResult::kOk;
}

// --- Time passes

bool Transfers::send_end(ConnectionHandle connection, uint16_t id, wire::TransferSide side,
                         wire::TransferEndReason reason) {
  std::array<uint8_t, wire::kMaxTransferControlBytes> body;
  const size_t bytes = wire::encode_transfer_end({id, side, reason}, body);
  return link_.send_control(connection, std::span(body).first(bytes));
}

void Transfers::owe_end(ConnectionHandle connection, uint16_t id, wire::TransferSide side,
                        wire::TransferEndReason reason) {
  if (!send_end(connection, id, side, reason)) link_.close(connection);
}

void Transfers::update() {
  if (lane_count_ == 0) return;
  for (const auto& lane : lanes_) {
    if (!lane) continue;
    for (auto& entry : lane->out) {
      if (entry) update_out(*lane, entry);
    }
    for (auto& entry : lane->in) {
      if (entry) update_in(*lane, entry);
    }
  }
}

void Transfers::update_out(Lane& lane, std::unique_ptr<Outgoing>& entry) {
  const OutgoingTransfer& transfer = entry->transfer;
  const TransferId id{transfer.id(), false};
  if (entry->failed) {
    entry->failed = false;
    owe_end(lane.connection, id.number, wire::TransferSide::kSender, wire::TransferEndReason::kFailed);
    handler_.on_end(lane.connection, id, TransferEnding::kFailed);
  } else if (!transfer.ended() && transfer.acked_bytes() != entry->told_bytes) {
    entry->told_bytes = transfer.acked_bytes();
    handler_.on_progress(lane.connection, id, entry->told_bytes, transfer.size_bytes());
  }
  if (transfer.drained()) entry.reset();
}

void Transfers::update_in(Lane& lane, std::unique_ptr<Incoming>& entry) {
  const IncomingTransfer& transfer = entry->transfer;
  if (transfer.received_bytes() == entry->told_bytes) return;
  entry->told_bytes = transfer.received_bytes();
  handler_.on_progress(lane.connection, {transfer.id(), true}, entry->told_bytes, transfer.size_bytes());
}

void Transfers::on_disconnected(ConnectionHandle connection) {
  if (lane_of(connection) == nullptr) return;
  // The lane leaves the table first: calls from the handler must no longer find its transfers.
  const std::unique_ptr<Lane> lane = std::move(lanes_[connection.slot]);
  --lane_count_;
  for (const auto& entry : lane->out) {
    if (!entry || (entry->transfer.ended() && !entry->failed)) continue;
    handler_.on_end(connection, {entry->transfer.id(), false}, TransferEnding::kConnectionLost);
  }
  for (const auto& entry : lane->in) {
    if (entry) handler_.on_end(connection, {entry->transfer.id(), true}, TransferEnding::kConnectionLost);
  }
}

// --- Outgoing chunks

size_t Transfers::slot_to_send(const Lane& lane) {
  if (lane.chunks_in_flight >= kMaxChunksInFlight) return kMaxTransfers;
  for (size_t i = 0; i < kMaxTransfers; ++i) {
    const size_t slot = (lane.turn + i) % kMaxTransfers;
    if (lane.out[slot] && lane.out[slot]->transfer.has_next()) return slot;
  }
  return kMaxTransfers;
}

bool Transfers::has_chunk(ConnectionHandle connection) {
  const Lane* lane = lane_of(connection);
  return lane != nullptr && slot_to_send(*lane) != kMaxTransfers;
}

size_t Transfers::take_chunk(ConnectionHandle connection, std::span<uint8_t> out, size_t floor_bytes,
                             Taken* taken) {
  Lane* lane = lane_of(connection);
  const size_t slot = lane == nullptr ? kMaxTransfers : slot_to_send(*lane);
  LATTICE_CHECK(slot != kMaxTransfers);
  Outgoing& entry = *lane->out[slot];
  OutgoingTransfer& transfer = entry.transfer;
  const ByteRange chunk = transfer.next({out.size(), floor_bytes});
  lane->turn = (slot + 1) % kMaxTransfers;
  const size_t header_bytes = wire::encode_transfer_chunk_header(transfer.id(), chunk.begin, out);
  const std::span<uint8_t> bytes = out.subspan(header_bytes, static_cast<size_t>(chunk.bytes()));
  if (!read(connection, entry, chunk.begin, bytes)) {
    transfer.end();
    entry.failed = true;
    return 0;
  }
  taken->channel = config_.channel;
  taken->chunk = chunk_name(slot, transfer.on_sent(chunk));
  ++lane->chunks_in_flight;
  return header_bytes + bytes.size();
}

bool Transfers::read(ConnectionHandle connection, const Outgoing& entry, uint64_t offset,
                     std::span<uint8_t> out) {
  if (entry.data == nullptr) return handler_.read(connection, {entry.transfer.id(), false}, offset, out);
  std::copy_n(entry.data + offset, out.size(), out.begin());
  return true;
}

void Transfers::on_chunk_receipt(ConnectionHandle connection, uint32_t chunk, bool acked) {
  Lane* lane = lane_of(connection);
  const size_t slot = chunk >> 16;
  LATTICE_CHECK(lane != nullptr && slot < kMaxTransfers && lane->out[slot] != nullptr);
  --lane->chunks_in_flight;
  lane->out[slot]->transfer.on_receipt(chunk & 0xFFFF, acked);
}

}  // namespace lattice::transfer
