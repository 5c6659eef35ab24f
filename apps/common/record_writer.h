// Records, such as lines, for somebody who may read slowly, stop reading, or have a full disk. Writing never
// blocks, and who reads never sees a part of a record.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace app {

/// Writes complete records. Bytes that are not taken now are kept, up to a bound; beyond it whole records are
/// dropped and counted. Once there is room again, or somebody reads again, writing goes on.
class RecordWriter {
 public:
  static constexpr size_t kBufferedBytes = 1 << 20;

  /// Writes to what `fd` is open on, and leaves `fd` as it is: whether it blocks belongs to the open file,
  /// which a shell or a parent may share.
  explicit RecordWriter(int fd);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Keeps a record for flush(). Not empty.
  void add(std::string_view record);
  /// Adds a line, and flushes.
  void write_line(std::string_view line);
  /// Tries to write what is kept. Returns false when nobody reads; what was kept is dropped and counted then,
  /// except for the rest of a record that was begun.
  bool flush();
  /// Flushes, and gives up what is still kept. A file does not keep the beginning of a record.
  void finish();

  /// Nothing waits to be taken.
  bool idle() const { return pending_.empty(); }
  size_t waiting_bytes() const { return pending_.size(); }
  uint64_t dropped() const { return dropped_; }
  /// Why the last attempt to write failed, as errno; 0 when it did not.
  int error() const { return error_; }
  /// Of dropped(), those that a disk did not take: not the fault of a reader.
  uint64_t lost_on_disk() const { return lost_on_disk_; }
  /// False while nobody has the other end open. Asks the kernel.
  bool has_reader() const;

 private:
  enum class Way : uint8_t { kNeverBlocks, kSocket, kAskFirst };

  /// write(2), without blocking. At most so many bytes as are certain not to.
  long put(std::string_view bytes);
  void took(size_t bytes);
  void drop_whole_records();
  void count_dropped(uint64_t records);

  int fd_;
  bool is_own_ = false;
  Way way_ = Way::kNeverBlocks;
  std::string pending_;
  std::deque<size_t> sizes_;  // of the records in pending_; of the first, what is left
  size_t written_ = 0;        // of the first record in pending_
  uint64_t dropped_ = 0;
  uint64_t lost_on_disk_ = 0;
  int error_ = 0;
};

/// Tells when a writer begins to lose records and when it writes again, once for each time.
class LossWatch {
 public:
  enum class Change : uint8_t { kNone, kBegan, kEnded };
  Change look(const RecordWriter& writer);
  /// How many records were lost from kBegan to kEnded.
  uint64_t lost() const { return lost_; }

 private:
  bool is_losing_ = false;
  uint64_t seen_ = 0;  // of dropped()
  uint64_t lost_ = 0;
};

}  // namespace app
