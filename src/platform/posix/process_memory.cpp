// Resident memory from /proc and getrusage.
#include "platform/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace lattice::platform {

uint64_t rss_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total_pages = 0;
  unsigned long long resident_pages = 0;
  const int fields = std::fscanf(file, "%llu %llu", &total_pages, &resident_pages);
  std::fclose(file);
  if (fields != 2) return 0;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t peak_rss_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB.
}

}  // namespace lattice::platform
