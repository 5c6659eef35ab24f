// The large transfers of all connections of an endpoint: control messages, chunks and endings.
//
//   start() ─▶ Offer ─▶ on_offer() ─▶ accept() ─▶ Accept ─▶ chunks, as budget allows ─▶ write()
//   on_end(kDone) ◀─ End, done ◀───────────────────────────────── the last chunk is stored ─▶ on_end(kDone)
//
// Must stay true: a peer occupies at most kMaxTransfers entries, and for each accepted transfer, whatever its
// size, the memory of kMaxMissingRanges and kMaxOpenChunks; nothing allocates while chunks flow.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/counters.h"
#include "reliability/endpoint/bulk_source.h"
#include "transfer/incoming_transfer.h"
#include "transfer/outgoing_transfer.h"
#include "transfer/transfer_handler.h"
#include "transfer/transfer_refusal.h"

namespace lattice::transfer {

struct TransferConfig {
  uint32_t max_connections = 1;  ///< Equal to the endpoint's.
  uint8_t channel = 0;           ///< Declared as bulk; 0: none, and transfers are not allowed.
  /// Larger offers are refused without asking the application; a larger start() is refused too.
  uint64_t max_size_bytes = 256u << 20;
};

enum class TransferResult : uint8_t {
  kOk,
  kNotFound,    ///< No such transfer, or it has ended.
  kBadState,    ///< Accepted before, or not an incoming one.
  kBadSize,     ///< 0, or above max_size_bytes; memory of another size than the offer.
  kBadLabel,    ///< Longer than kMaxTransferLabelBytes.
  kTooMany,     ///< kMaxTransfers are in progress.
  kWouldBlock,  ///< The control channel is full, or there is no connection. Nothing happened.
  kNoChannel,   ///< TransferConfig::channel is 0.
};

class Transfers final : public reliability::BulkSource {
 public:
  /// `link` and `handler` are borrowed.
  Transfers(const TransferConfig& config, TransferLink& link, TransferHandler& handler);
  ~Transfers() override;

  // --- The application's side. `connection` is connected.

  uint64_t max_size_bytes() const { return config_.max_size_bytes; }

  /// Offers `size_bytes`. The bytes are at `data` (borrowed until the transfer has ended here). If `data` is
  /// null, read() provides the bytes once the peer accepts.
  TransferResult start(ConnectionHandle connection, uint64_t size_bytes, const uint8_t* data,
                       std::span<const uint8_t> label, TransferId* out);
  /// Accepts an offer. Its chunks go into `memory` (borrowed until the transfer has ended here, and as large
  /// as the offer) or, if `memory` is empty, to write().
  TransferResult accept(ConnectionHandle connection, TransferId transfer, std::span<uint8_t> memory);
  /// Refuses `offer` for an application that never answers. The same as cancel(), except when the control
  /// channel is full: then the connection closes, so that the offer does not stay open for ever.
  void refuse(ConnectionHandle connection, TransferId offer);
  /// Refuses an offer, or ends a transfer of either direction. No on_end() follows on this side.
  TransferResult cancel(ConnectionHandle connection, TransferId transfer);
  /// Stops the chunks of an accepted transfer, or lets them continue. Chunks in flight still arrive.
  TransferResult hold(ConnectionHandle connection, TransferId transfer, bool held);
  /// The done bytes of on_progress(), and the size of the transfer; kNotFound once it has ended.
  TransferResult progress(ConnectionHandle connection, TransferId transfer, uint64_t* done_bytes,
                          uint64_t* size_bytes) const;

  // --- The endpoint's side.

  /// Ends failed transfers and reports progress. Call it before every update_and_send() of the endpoint.
  void update();
  /// Processes a control message of a transfer type. When the result closes(), the peer broke the protocol.
  TransferRefusal on_control(ConnectionHandle connection, std::span<const uint8_t> body);
  /// Processes a message of the bulk channel. The result means the same as for on_control().
  TransferRefusal on_chunk(ConnectionHandle connection, std::span<const uint8_t> body);
  /// Ends every transfer of the connection. Call it before the application learns that the connection ended.
  void on_disconnected(ConnectionHandle connection);

  uint64_t refused(TransferRefusal refusal) const { return refusals_.get(refusal); }

  // reliability::BulkSource
  bool has_chunk(ConnectionHandle connection) override;
  size_t take_chunk(ConnectionHandle connection, std::span<uint8_t> out, size_t floor_bytes,
                    Taken* taken) override;
  void on_chunk_receipt(ConnectionHandle connection, uint32_t chunk, bool acked) override;

 private:
  struct Outgoing {
    explicit Outgoing(const OutgoingTransfer& made) : transfer(made) {}
    OutgoingTransfer transfer;
    const uint8_t* data = nullptr;  ///< Null: read() provides the bytes.
    uint64_t told_bytes = 0;
    bool failed = false;  ///< read() failed; update() ends the transfer.
  };
  struct Incoming {
    explicit Incoming(const wire::TransferOffer& offer) : transfer(offer) {}
    IncomingTransfer transfer;
    uint8_t* memory = nullptr;  ///< Null: the bytes go to write().
    uint64_t told_bytes = 0;
    bool held = false;
  };
  /// The transfers of one connection; made at its first transfer.
  struct Lane {
    ConnectionHandle connection;
    uint32_t out_count = 0;  ///< Offers so far; the last one's number is its low 16 bits (B-3).
    uint32_t in_count = 0;
    uint32_t chunks_in_flight = 0;
    size_t turn = 0;  ///< The slot that is asked first for the next chunk.
    std::array<std::unique_ptr<Outgoing>, kMaxTransfers> out;
    std::array<std::unique_ptr<Incoming>, kMaxTransfers> in;
  };

  Lane* lane_of(ConnectionHandle connection) const;
  Lane& lane_for(ConnectionHandle connection);
  /// The outgoing transfer `id`; null when there is none, or it has ended.
  static Outgoing* find_out(Lane* lane, uint16_t id);
  /// The place of the incoming transfer `id`; null when there is none.
  static std::unique_ptr<Incoming>* find_in(Lane* lane, uint16_t id);
  /// The slot whose turn it is to send a chunk, or kMaxTransfers.
  static size_t slot_to_send(const Lane& lane);
  /// Whether `id` names one of the last of `offer_count` offers.
  static bool was_offered(uint16_t id, uint32_t offer_count);
  TransferRefusal count(TransferRefusal refusal);
  bool send_end(ConnectionHandle connection, uint16_t id, wire::TransferSide side,
                wire::TransferEndReason reason);
  /// send_end() for endings that the application did not request. If the message cannot be queued, the
  /// connection closes, so that no ending is lost.
  void owe_end(ConnectionHandle connection, uint16_t id, wire::TransferSide side,
               wire::TransferEndReason reason);
  void update_out(Lane& lane, std::unique_ptr<Outgoing>& entry);
  void update_in(Lane& lane, std::unique_ptr<Incoming>& entry);
  TransferRefusal on_offer(ConnectionHandle connection, std::span<const uint8_t> body);
  TransferRefusal on_accept(ConnectionHandle connection, std::span<const uint8_t> body);
  TransferRefusal on_hold(ConnectionHandle connection, std::span<const uint8_t> body);
  TransferRefusal on_end(ConnectionHandle connection, std::span<const uint8_t> body);
  bool read(ConnectionHandle connection, const Outgoing& entry, uint64_t offset, std::span<uint8_t> out);
  void store(Lane& lane, const wire::TransferChunk& chunk);
  bool write(ConnectionHandle connection, Incoming& entry, uint64_t offset, std::span<const uint8_t> bytes);
  void complete(Lane& lane, uint16_t id);

  TransferConfig config_;
  TransferLink& link_;
  TransferHandler& handler_;
  std::vector<std::unique_ptr<Lane>> lanes_;  ///< By slot.
  size_t lane_count_ = 0;
  base::Counters<TransferRefusal, static_cast<size_t>(TransferRefusal::kCount)> refusals_;
};

}  // namespace lattice::transfer
