// Lines for somebody who may read slowly, stop reading, or have a full disk. Writing never blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace app {

/// Writes complete lines. Bytes that are not taken now are kept, up to a bound; beyond it whole lines are
/// dropped and counted.
class LineWriter {
 public:
  static constexpr size_t kBufferedBytes = 1 << 20;

  /// Writes to what `fd` is open on, and leaves `fd` as it is: whether it blocks belongs to the open file,
  /// which a shell or a parent may share.
  explicit LineWriter(int fd);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void write_line(std::string_view line);
  /// Tries again what was not taken yet. Returns false when the reader is gone; what was kept for it is
  /// dropped and counted.
  bool flush();
  /// Nothing waits to be taken.
  bool idle() const { return pending_.empty(); }
  uint64_t dropped_lines() const { return dropped_lines_; }

 private:
  enum class Way : uint8_t { kNeverBlocks, kSocket, kAskFirst };

  /// write(2), without blocking. At most so many bytes as are certain not to.
  long put(std::string_view bytes);
  /// Forgets what waits.
  void drop_pending();

  int fd_;
  bool is_own_ = false;
  Way way_ = Way::kNeverBlocks;
  std::string pending_;
  uint64_t dropped_lines_ = 0;
};

}  // namespace app
