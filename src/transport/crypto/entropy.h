// The source of key material. It is an argument, so that vectors and tests can fix its bytes. It is never the
// seeded base::Random, whose state a peer could recover from its outputs.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::crypto {

class EntropySource {
 public:
  // Inline, so that code built with run-time type information can derive from it too.
  virtual ~EntropySource() = default;
  /// Fills `out` with bytes that no peer can predict. Cannot fail: an OS without entropy ends the process.
  virtual void fill(std::span<uint8_t> out) = 0;
};

/// The operating system's generator, through platform::fill_entropy().
class SystemEntropy final : public EntropySource {
 public:
  SystemEntropy();
  void fill(std::span<uint8_t> out) override;
};

}  // namespace lattice::crypto
