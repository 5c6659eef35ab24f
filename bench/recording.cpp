#include "recording.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace bench {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

/// Appends everything that `file` holds.
void read_all(FILE* file, std::vector<char>* out) {
  std::array<char, 65536> chunk;
  for (size_t got; out->size() < kMostBytes && (got = fread(chunk.data(), 1, chunk.size(), file)) > 0;) {
    out->insert(out->end(), chunk.data(), chunk.data() + got);
  }
}

/// What `xz -dc path` prints. No shell reads the path.
void read_unpacked(const std::string& path, std::vector<char>* out) {
  int ends[2];
  if (pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]), close(ends[1]);
    execlp("xz", "xz", "-dc", "--", path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  FILE* file = fdopen(ends[0], "r");
  read_all(file, out);
  fclose(file);
  waitpid(child, nullptr, 0);
}

bool in_range(const CubeRecord& record) {
  const auto within = [](int32_t value, int32_t low, int32_t high) { return value >= low && value <= high; };
  return within(record.largest, 0, 3) && within(record.a, 0, 511) && within(record.b, 0, 511) &&
         within(record.c, 0, 511) && within(record.x, -16384, 16383) && within(record.y, -16384, 16383) &&
         within(record.z, 0, 8191) && within(record.interacting, 0, 1);
}

}  // namespace

std::string Recording::read(const std::string& path) {
  std::vector<char> bytes;
  if (path.ends_with(".xz")) {
    read_unpacked(path, &bytes);
  } else if (FILE* file = fopen(path.c_str(), "r")) {
    read_all(file, &bytes);
    fclose(file);
  }
  constexpr size_t kFrameBytes = kCubes * sizeof(CubeRecord);
  if (bytes.empty()) return "cannot read " + path + ". Check the path, and that xz is installed.";
  if (bytes.size() % kFrameBytes != 0)
    return path + " does not consist of frames of 901 records of 32 bytes.";
  records_.resize(bytes.size() / sizeof(CubeRecord));
  std::memcpy(records_.data(), bytes.data(), bytes.size());
  for (const CubeRecord& record : records_) {
    if (!in_range(record)) return path + " holds a value outside the range of its field.";
  }
  return "";
}

}  // namespace bench
