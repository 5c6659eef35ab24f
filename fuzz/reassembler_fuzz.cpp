// Fragments as a hostile peer sends them, behind the deduplication of their channels. Input: any number of
//   kind u8 (mod 4: unreliable, sequenced, reliable unordered, ordered; 0x40: rpc; 0x80: half a second
//   passes) · id u8 · group u8 · index u8 · count u8 · length u8
// For any input: memory stays within its bounds, a message consists of sent bytes, and all memory is
// returned.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "fragment/reassembler.h"
#include "reliability/channel/receive_channel.h"

namespace {

using namespace lattice;
using fragment::Piece;
using reliability::ReceiveChannel;
using reliability::ReceiveMemory;
using wire::ChannelMode;

constexpr size_t kRecordBytes = 6;
constexpr ChannelMode kModes[] = {ChannelMode::kUnreliable, ChannelMode::kUnreliableSequenced,
                                  ChannelMode::kReliableUnordered, ChannelMode::kReliableOrdered};

void require(bool condition) {
  if (!condition) std::abort();
}

class Receiver {
 public:
  /// False once the connection would be closed.
  bool take(const uint8_t* record) {
    if ((record[0] & 0x80) != 0) {
      now_ns_ += 500'000'000;
      reassembler_.expire(now_ns_);
    }
    Piece piece;
    piece.channel = record[0] % 4;
    piece.mode = kModes[piece.channel];
    piece.is_rpc = (record[0] & 0x40) != 0;
    piece.header = {record[2], record[3], static_cast<uint16_t>(record[4] == 0 ? 256 : record[4])};
    if (piece.header.index >= piece.header.count) return true;  // The framing refuses it.
    piece.body = std::span(body_).first(record[5] == 255 ? 1136 : record[5]);
    piece.id.value = record[1];
    if (!piece.is_reliable()) return add(piece);
    // Ids around where the channel is, so that most of them are new.
    ReceiveChannel& channel = piece.mode == ChannelMode::kReliableOrdered ? ordered_ : unordered_;
    piece.id = channel.next_expected().plus(record[1] % 64 - 4);
    const auto flags = static_cast<uint8_t>(piece.is_rpc ? wire::kFlagRpc : 0);
    if (channel.offer(piece.id, flags, piece.body, piece.header) != ReceiveChannel::Outcome::kDeliver) {
      return true;
    }
    if (!add_reliable(piece, channel)) return false;
    ReceiveChannel::Ready ready;
    bool open = true;
    while (channel.pop_ready(&ready)) {
      piece.id = ready.id;
      piece.header = ready.fragment;
      piece.is_rpc = (ready.flags & wire::kFlagRpc) != 0;
      piece.body = ready.body();
      open = open && add_reliable(piece, channel);
      channel.release(ready);
    }
    return open;
  }

  void finish() {
    reassembler_.expire(UINT64_MAX);
    reassembler_.clear();
    require(reassembler_.held_blocks() == 0 && reassembler_.group_count() == 0);
  }

 private:
  bool add_reliable(Piece& piece, ReceiveChannel& channel) {
    piece.next_id = channel.next_expected();
    const bool open = add(piece);
    channel.set_incomplete(reassembler_.oldest_incomplete(piece.channel), reassembler_.is_crowded());
    return open;
  }

  bool add(const Piece& piece) {
    const fragment::Reassembler::Result result = reassembler_.add(piece, now_ns_, &message_);
    require(!(result.is_complete && result.refusal));
    if (result.is_complete) {
      require(!message_.empty() && message_.size() <= fragment::kMaxMessageBytes);
      // Every body is the start of the same bytes, so that each unit of the message is too.
      require(message_[0] == body_[0]);
    }
    require(reassembler_.group_count() <= fragment::kMaxUnreliableGroups + 2 * reliability::kMaxFragments);
    require(reassembler_.held_blocks() <= memory_.blocks_live());
    require(memory_.blocks_live() <= kShares * ReceiveMemory::kShareBlocks + kGrowthBlocks + 1);
    return !result.refusal || !piece.is_reliable();
  }

  std::array<uint8_t, 1136> body_ = [] {
    std::array<uint8_t, 1136> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(i * 7 + 1);
    return out;
  }();
  static constexpr uint64_t kShares = 3;         // of the two reliable channels, and of the others together
  static constexpr uint64_t kGrowthBlocks = 64;  // little, so that inputs pass it
  base::BufferPool pool_{8u << 20};
  ReceiveMemory memory_{kShares, kGrowthBlocks, 0, base::PageSize::kSmall};
  ReceiveChannel unordered_{pool_, memory_, false};
  ReceiveChannel ordered_{pool_, memory_, true};
  fragment::Reassembler reassembler_{memory_};
  std::vector<uint8_t> message_;
  uint64_t now_ns_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Receiver receiver;
  for (size_t at = 0; at + kRecordBytes <= size; at += kRecordBytes) {
    if (!receiver.take(data + at)) break;
  }
  receiver.finish();
  return 0;
}
