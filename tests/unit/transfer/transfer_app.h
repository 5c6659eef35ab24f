// An application with transfers. Each byte depends on its offset, so that every byte is checked. The
// application records its callbacks.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transfer/transfers.h"

namespace lattice::test {

/// The byte at `offset` of transfer `number`.
inline uint8_t transfer_byte(uint16_t number, uint64_t offset) {
  return static_cast<uint8_t>((offset * 0x9E3779B97F4A7C15u >> 56) + number);
}

class TransferApp : public transfer::TransferHandler {
 public:
  struct Told {
    transfer::TransferId id;
    transfer::TransferEnding ending;
  };

  void on_offer(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t size_bytes,
                std::span<const uint8_t> label) override {
    offers.push_back(id);
    labels.emplace_back(label.begin(), label.end());
    sizes[id.number] = size_bytes;
    if (never_answers) {
      transfers->refuse(connection, id);
    } else if (accepts) {
      EXPECT_EQ(transfers->accept(connection, id, {}), transfer::TransferResult::kOk);
    }
  }
  bool read(transfer::ConnectionHandle, transfer::TransferId id, uint64_t offset,
            std::span<uint8_t> out) override {
    if (offset >= unreadable_from) return false;
    for (size_t i = 0; i < out.size(); ++i) out[i] = transfer_byte(id.number, offset + i);
    return true;
  }
  bool write(transfer::ConnectionHandle connection, transfer::TransferId id, uint64_t offset,
             std::span<const uint8_t> bytes) override {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != transfer_byte(id.number, offset + i)) ++wrong_bytes;
    }
    written_bytes += bytes.size();
    ++writes;
    if (cancel_at_write == writes) {
      EXPECT_EQ(transfers->cancel(connection, id), transfer::TransferResult::kOk);
    }
    return written_bytes <= disk_bytes;
  }
  void on_progress(transfer::ConnectionHandle, transfer::TransferId id, uint64_t done_bytes,
                   uint64_t size_bytes) override {
    uint64_t& before = told_[{id.incoming, id.number}];
    EXPECT_GT(done_bytes, before);
    before = done_bytes;
    EXPECT_LE(done_bytes, size_bytes);
    progress[id.number] = done_bytes;
    ++progress_calls;
  }
  void on_end(transfer::ConnectionHandle, transfer::TransferId id, transfer::TransferEnding ending) override {
    ended.push_back({id, ending});
  }

  transfer::Transfers* transfers = nullptr;
  bool accepts = true;
  bool never_answers = false;
  uint64_t unreadable_from = UINT64_MAX;
  uint64_t disk_bytes = UINT64_MAX;
  uint64_t cancel_at_write = 0;

  std::vector<transfer::TransferId> offers;
  std::vector<std::string> labels;
  std::map<uint16_t, uint64_t> sizes;
  std::map<uint16_t, uint64_t> progress;
  std::vector<Told> ended;
  uint64_t progress_calls = 0;
  uint64_t writes = 0;
  uint64_t written_bytes = 0;
  uint64_t wrong_bytes = 0;

 private:
  std::map<std::pair<bool, uint16_t>, uint64_t> told_;
};

}  // namespace lattice::test
