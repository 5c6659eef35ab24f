#include "world/snapshot_batch.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::world {

SnapshotBatch::SnapshotBatch(const Builder::Config& config, const reliability::CallerTasks& tasks,
                             const replication::ObjectTable& table, replication::StateStore& store)
    : tasks_(tasks) {
  const uint32_t workers = std::clamp(tasks.worker_count, 1u, reliability::CallerTasks::kMaxWorkers);
  for (uint32_t i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>(config, table, store));
  jobs_.reserve(kMostJobs);
  built_.resize(kMostJobs);
}

void SnapshotBatch::begin(replication::Tick tick) {
  tick_ = tick;
  ++send_;
  builder().begin_send(tick);
  workers_.front()->send = send_;
}

void SnapshotBatch::add(const Job& job) {
  LATTICE_ASSERT(!is_full());
  jobs_.push_back(job);
}

void SnapshotBatch::build() {
  built_.resize(jobs_.size());
  shares_.clear();
  const size_t count = std::clamp<size_t>(jobs_.size() / kLeastJobsPerShare, 1, workers_.size());
  for (size_t i = 0; i < count; ++i) {
    shares_.add(jobs_.size() * i / count, jobs_.size() * (i + 1) / count);
  }
  for (const Job& job : jobs_) builder().prepare(*job.list);
  shares_.run(tasks_,
              [this](uint32_t share, uint32_t begin, uint32_t end) { build_share(share, begin, end); });
  for (const Job& job : jobs_) builder().settle(*job.list);
  jobs_.clear();
}

void SnapshotBatch::build_share(uint32_t share, uint32_t begin, uint32_t end) {
  Worker& worker = *workers_[share];
  worker.parts.clear();
  worker.builder.begin_run();
  if (worker.send != send_) worker.builder.begin_send(tick_);
  worker.send = send_;
  for (uint32_t i = begin; i < end; ++i) {
    Job& job = jobs_[i];
    const size_t first = worker.parts.size();
    for (const replication::SnapshotPart& part : worker.builder.build_prepared(
             *job.list, job.header, job.budget_bytes, job.rules ? &*job.rules : nullptr, job.silence)) {
      const auto at = static_cast<size_t>(part.bytes.data() - worker.builder.run().data());
      worker.parts.push_back({at, part.bytes.size(), part.receipt});
    }
    built_[i] = {job.client, share, first, worker.parts.size() - first};
  }
}

uint64_t SnapshotBatch::sum(uint64_t Builder::Stats::*count) const {
  uint64_t total = 0;
  for (const std::unique_ptr<Worker>& worker : workers_) total += worker->builder.stats().*count;
  return total;
}

}  // namespace lattice::world
