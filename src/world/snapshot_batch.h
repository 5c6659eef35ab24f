// Builds the snapshots of several clients at a time, on the threads that the caller lends.
//
// Each thread has a builder of its own, which reads the states and writes to the clients of its share alone.
// What clients share changes before and after (SnapshotBuilder::prepare, settle). So parts and their order
// are the same for any number of threads. A batch has a fixed size for that reason too, and a small one, so
// that its parts are still in the cache when they are sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reliability/endpoint/caller_tasks.h"
#include "reliability/endpoint/task_shares.h"
#include "replication/replica_list.h"
#include "replication/snapshot_builder.h"
#include "world/interest_hub.h"

namespace lattice::world {

class SnapshotBatch {
 public:
  using Builder = replication::SnapshotBuilder;

  /// One client's snapshot; the members are the arguments of SnapshotBuilder::build().
  struct Job {
    uint32_t client = 0;  // the caller's number for it
    replication::ReplicaList* list = nullptr;
    replication::SnapshotHeader header;
    uint32_t budget_bytes = 0;
    std::optional<InterestHub::SendRules> rules;
    Builder::Silence silence = Builder::Silence::kForbidden;
  };

  /// `table` and `store` outlive this.
  SnapshotBatch(const Builder::Config& config, const reliability::CallerTasks& tasks,
                const replication::ObjectTable& table, replication::StateStore& store);

  /// Starts a send at `tick`: SnapshotBuilder::begin_send().
  void begin(replication::Tick tick);
  /// Adds a snapshot. Each client comes once at most until the next run(), and the batch is not full.
  void add(const Job& job);
  bool is_full() const { return jobs_.size() == kMostJobs; }
  /// Builds what was added and forgets it. Calls take(client, parts) for each, in the order they were added.
  /// The parts are valid in that call. `far(client)` comes some calls before, and `near(client)` in between.
  template <class Take, class Far, class Near>
  void run(Take take, Far far, Near near) {
    constexpr size_t kFar = 3, kNear = 1;
    build();
    for (size_t i = 0; i < std::min(kFar, built_.size()); ++i) far(built_[i].client);
    for (size_t i = 0; i < built_.size(); ++i) {
      if (i + kFar < built_.size()) far(built_[i + kFar].client);
      if (i + kNear < built_.size()) near(built_[i + kNear].client);
      const Built& built = built_[i];
      const Worker& worker = *workers_[built.worker];
      parts_.clear();
      for (const Part& part : std::span(worker.parts).subspan(built.first, built.count)) {
        parts_.push_back({worker.builder.run().subspan(part.first, part.bytes), part.receipt});
      }
      take(built.client, std::span<const replication::SnapshotPart>(parts_));
    }
  }

  /// A builder for questions outside of run().
  Builder& builder() { return workers_.front()->builder; }
  uint64_t snapshots() const { return sum(&Builder::Stats::snapshots); }
  uint64_t bytes() const { return sum(&Builder::Stats::bytes); }
  uint64_t over_budget() const { return sum(&Builder::Stats::over_budget); }
  uint64_t groups_cut() const { return sum(&Builder::Stats::groups_cut); }

 private:
  static constexpr size_t kMostJobs = 64;
  /// Fewer are not worth waking another thread: that takes as long as some snapshots.
  static constexpr size_t kLeastJobsPerShare = 4;

  struct Part {
    size_t first = 0, bytes = 0;  // in the run of the builder
    uint32_t receipt = 0;
  };
  struct Built {
    uint32_t client = 0, worker = 0;
    size_t first = 0, count = 0;  // in Worker::parts
  };
  /// What one share of a batch works with.
  struct Worker {
    Worker(const Builder::Config& config, const replication::ObjectTable& table,
           replication::StateStore& store)
        : builder(config, table, store) {}
    Builder builder;
    uint64_t send = 0;  // the send that the builder has begun
    std::vector<Part> parts;
  };

  void build();
  void build_share(uint32_t share, uint32_t begin, uint32_t end);
  uint64_t sum(uint64_t Builder::Stats::*count) const;

  reliability::CallerTasks tasks_;
  reliability::TaskShares shares_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Job> jobs_;
  std::vector<Built> built_;
  std::vector<replication::SnapshotPart> parts_;  // of the client that take() is called for
  replication::Tick tick_ = 0;
  uint64_t send_ = 0;  // counts begin()
};

}  // namespace lattice::world
