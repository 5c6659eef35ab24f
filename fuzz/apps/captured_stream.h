// stdout or stderr of the program's own code, caught in memory while this object lives. The sanitizers and
// libFuzzer write past it, to the descriptor.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace app::fuzz {

class CapturedStream {
 public:
  /// `stream` is stdout or stderr: glibc lets a program assign to them.
  explicit CapturedStream(FILE*& stream) : stream_(stream), before_(stream) {
    stream_ = open_memstream(&text_, &size_);
    if (stream_ == nullptr) std::abort();
  }
  ~CapturedStream() {
    std::fclose(stream_);
    stream_ = before_;
    std::free(text_);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;

  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  FILE*& stream_;
  FILE* before_;
  char* text_ = nullptr;
  size_t size_ = 0;
};

}  // namespace app::fuzz
