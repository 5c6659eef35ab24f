// Replays a fuzz corpus without libFuzzer, so that every compiler and sanitizer runs it.
// For each file: the bytes as they are, every truncation of the first and last 256 lengths, and each bit of
// the first 256 bytes flipped (beyond that, one bit per byte). The input is copied into a block of exactly
// its size so that a read past the end is seen by the address sanitizer.
//
//   fuzz_<name> <corpus folder or file>...
// Returns 77 with "skipped: ..." when there is no corpus.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kDenseBytes = 256;

void run_exact(const uint8_t* data, size_t size) {
  const auto block = std::make_unique<uint8_t[]>(size == 0 ? 1 : size);
  std::copy(data, data + size, block.get());
  LLVMFuzzerTestOneInput(block.get(), size);
}

size_t replay_truncations(const Bytes& bytes) {
  size_t runs = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const bool dense = size < kDenseBytes || bytes.size() - size <= kDenseBytes;
    if (!dense && size % 16 != 0) continue;
    run_exact(bytes.data(), size);
    ++runs;
  }
  return runs;
}

size_t replay_bit_flips(Bytes bytes) {
  size_t runs = 0;
  for (size_t index = 0; index < bytes.size(); ++index) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (index >= kDenseBytes && bit != index % 8) continue;
      const auto mask = static_cast<uint8_t>(1u << bit);
      bytes[index] ^= mask;
      run_exact(bytes.data(), bytes.size());
      bytes[index] ^= mask;
      ++runs;
    }
  }
  return runs;
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::vector<std::filesystem::path> corpus_files(int count, char** arguments) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path path = arguments[i];
    if (std::filesystem::is_regular_file(path)) files.push_back(path);
    if (!std::filesystem::is_directory(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const auto files = corpus_files(argc, argv);
  if (files.empty()) {
    std::printf("skipped: no corpus in %s\n", argc > 1 ? argv[1] : "(no folder given)");
    return 77;
  }
  run_exact(nullptr, 0);
  size_t runs = 1;
  for (const auto& file : files) {
    // Printed before the run: the last line names the file that crashed.
    std::printf("%s\n", file.filename().string().c_str());
    std::fflush(stdout);
    const Bytes bytes = read_file(file);
    run_exact(bytes.data(), bytes.size());
    runs += 1 + replay_truncations(bytes) + replay_bit_flips(bytes);
  }
  std::printf("%zu files, %zu inputs\n", files.size(), runs);
  return 0;
}
