// Entropy from getrandom.
#include "platform/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace lattice::platform {

void fill_entropy(void* out, size_t bytes) {
  uint8_t* position = static_cast<uint8_t*>(out);
  while (bytes > 0) {
    const ssize_t got = getrandom(position, bytes, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      std::fprintf(stderr, "lattice: the operating system gives no entropy (errno %d)\n", errno);
      std::abort();
    }
    position += got;
    bytes -= static_cast<size_t>(got);
  }
}

}  // namespace lattice::platform
