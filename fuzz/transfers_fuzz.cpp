// Large transfers of one connection. The peer sends anything; the application and the network do everything
//   that is allowed. Input: any number of  op u8 · length u8 · that many bytes:
//   op mod 8: 0 control message (its type from the first byte) · 1 chunk (of 256 bytes by 0x80 in op)
//             2 start · 3 accept the newest offer (into memory by 0x80) · 4 cancel
//             5 send chunks, each into a datagram with as many bytes more than the smallest
//             6 receipts of chunks in flight, a bit each · 7 hold, a full control queue, update
// For any input: every byte is stored at most once and within its transfer, every chunk gets one receipt,
// every transfer ends once, and bounds hold.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include "transfer/transfers.h"
#include "transport/wire/control_body.h"

namespace {

using namespace lattice;
using transfer::ConnectionHandle;
using transfer::TransferId;

constexpr uint64_t kMaxSizeBytes = 64 << 10;
constexpr ConnectionHandle kConnection{};

void require(bool condition) {
  if (!condition) std::abort();
}

class Application final : public transfer::TransferHandler, public transfer::TransferLink {
 public:
  bool send_control(ConnectionHandle, std::span<const uint8_t> body) override {
    require(!body.empty() && body.size() <= wire::kMaxTransferControlBytes);
    return !queue_is_full;
  }
  void close(ConnectionHandle) override { closed = true; }
  void wake(ConnectionHandle) override {}

  void on_offer(ConnectionHandle, TransferId id, uint64_t size_bytes,
                std::span<const uint8_t> label) override {
    require(size_bytes >= 1 && size_bytes <= kMaxSizeBytes && label.size() <= wire::kMaxTransferLabelBytes);
    require(id.incoming && incoming.count(id.number) == 0);
    incoming[id.number].size_bytes = size_bytes;
    incoming[id.number].here.resize(size_bytes);
    newest = id.number;
  }
  bool read(ConnectionHandle, TransferId id, uint64_t offset, std::span<uint8_t> out) override {
    require(!id.incoming && offset + out.size() <= outgoing.at(id.number));
    return id.number % 5 != 4;
  }
  bool write(ConnectionHandle, TransferId id, uint64_t offset, std::span<const uint8_t> bytes) override {
    Incoming& to = incoming.at(id.number);
    require(id.incoming && !bytes.empty() && offset + bytes.size() <= to.size_bytes);
    for (uint64_t at = offset; at < offset + bytes.size(); ++at) {
      require(!to.here[at]);
      to.here[at] = true;
    }
    to.written_bytes += bytes.size();
    return id.number % 5 != 4;
  }
  void on_progress(ConnectionHandle, TransferId, uint64_t done_bytes, uint64_t size_bytes) override {
    require(done_bytes != 0 && done_bytes <= size_bytes);
  }
  void on_end(ConnectionHandle, TransferId id, transfer::TransferEnding ending) override {
    if (id.incoming) {
      Incoming& of = incoming.at(id.number);
      if (ending == transfer::TransferEnding::kDone && of.memory.empty()) {
        require(of.written_bytes == of.size_bytes);
      }
      incoming.erase(id.number);
    } else {
      require(outgoing.erase(id.number) == 1);
    }
  }

  struct Incoming {
    uint64_t size_bytes = 0;
    uint64_t written_bytes = 0;
    std::vector<bool> here;
    std::vector<uint8_t> memory;
  };
  std::map<uint16_t, Incoming> incoming;  ///< Open ones.
  std::map<uint16_t, uint64_t> outgoing;  ///< Sizes of the open ones.
  uint16_t newest = 0;
  bool queue_is_full = false;
  bool closed = false;
};

class Run {
 public:
  /// False once the connection would be closed.
  bool act(uint8_t op, std::span<const uint8_t> bytes) {
    switch (op % 8) {
      case 0:
        return control(bytes);
      case 1:
        return chunk(bytes, (op & 0x80) != 0);
      case 2:
        start(bytes);
        break;
      case 3:
        accept((op & 0x80) != 0);
        break;
      case 4:
        cancel(bytes);
        break;
      case 5:
        for (const uint8_t room : bytes) send_chunk(room);
        break;
      case 6:
        for (const uint8_t bits : bytes) tell_fates(bits);
        break;
      default:
        for (const uint8_t what : bytes) upkeep(what);
    }
    return !app_.closed;
  }

  /// Ends the connection as the endpoint does: receipts of all chunks come first.
  void end() {
    while (!in_flight_.empty()) tell_fates(0);
    transfers_.on_disconnected(kConnection);
    require(app_.outgoing.empty() && app_.incoming.empty());
    require(!transfers_.has_chunk(kConnection));
  }

 private:
  static transfer::TransferConfig config() {
    transfer::TransferConfig out;
    out.channel = 13;
    out.max_size_bytes = kMaxSizeBytes;
    return out;
  }

  bool control(std::span<const uint8_t> bytes) {
    std::vector<uint8_t> body(bytes.begin(), bytes.end());
    if (body.empty()) return true;
    body[0] = static_cast<uint8_t>(static_cast<uint8_t>(wire::ControlType::kTransferOffer) + body[0] % 4);
    return !closes(transfers_.on_control(kConnection, body));
  }

  bool chunk(std::span<const uint8_t> bytes, bool pad) {
    std::vector<uint8_t> body(bytes.begin(), bytes.end());
    wire::TransferChunk parsed;
    if (pad && wire::parse_transfer_chunk(body, &parsed)) {
      body.resize(body.size() - parsed.bytes.size() + wire::kMinChunkBytes);
    }
    return !closes(transfers_.on_chunk(kConnection, body));
  }

  void start(std::span<const uint8_t> bytes) {
    const uint64_t size_bytes = bytes.empty() ? 0 : uint64_t{bytes[0]} * 300;
    TransferId id;
    if (transfers_.start(kConnection, size_bytes, nullptr, bytes, &id) == transfer::TransferResult::kOk) {
      require(app_.outgoing.emplace(id.number, size_bytes).second);
    }
  }

  void accept(bool into_memory) {
    const auto found = app_.incoming.find(app_.newest);
    if (found == app_.incoming.end()) return;
    std::vector<uint8_t> memory(into_memory ? found->second.size_bytes : 0);
    if (transfers_.accept(kConnection, {app_.newest, true}, memory) == transfer::TransferResult::kOk) {
      found->second.memory = std::move(memory);
    }
  }

  void cancel(std::span<const uint8_t> bytes) {
    if (bytes.empty()) return;
    const TransferId id{bytes[0], bytes.size() > 1};
    if (transfers_.cancel(kConnection, id) != transfer::TransferResult::kOk) return;
    if (id.incoming) {
      require(app_.incoming.erase(id.number) == 1);
    } else {
      require(app_.outgoing.erase(id.number) == 1);
    }
  }

  /// Sends a chunk into a datagram with room for `room` bytes more than the smallest.
  void send_chunk(uint8_t room) {
    if (!transfers_.has_chunk(kConnection)) return;
    std::vector<uint8_t> body(reliability::kMaxUnreliableBody + room);
    reliability::BulkSource::Taken taken;
    const size_t bytes = transfers_.take_chunk(kConnection, body, reliability::kMaxUnreliableBody, &taken);
    require(bytes <= body.size());
    if (bytes == 0) return;
    in_flight_.push_back(taken.chunk);
    require(in_flight_.size() <= transfer::kMaxChunksInFlight);
  }

  void tell_fates(uint8_t acked_bits) {
    for (int i = 0; i < 8 && !in_flight_.empty(); ++i) {
      const uint32_t chunk = in_flight_.front();
      in_flight_.pop_front();
      transfers_.on_chunk_receipt(kConnection, chunk, (acked_bits >> i & 1) != 0);
    }
  }

  void upkeep(uint8_t what) {
    app_.queue_is_full = (what & 1) != 0;
    const TransferId id{static_cast<uint16_t>(what >> 4), (what & 2) != 0};
    transfers_.hold(kConnection, id, (what & 4) != 0);
    uint64_t done_bytes = 0, size_bytes = 0;
    if (transfers_.progress(kConnection, id, &done_bytes, &size_bytes) == transfer::TransferResult::kOk) {
      require(done_bytes <= size_bytes);
    }
    transfers_.update();
  }

  Application app_;
  transfer::Transfers transfers_{config(), app_, app_};
  std::deque<uint32_t> in_flight_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Run run;
  for (size_t at = 0; at + 2 <= size;) {
    const size_t length = std::min<size_t>(data[at + 1], size - at - 2);
    if (!run.act(data[at], {data + at + 2, length})) break;
    at += 2 + length;
  }
  run.end();
  return 0;
}
