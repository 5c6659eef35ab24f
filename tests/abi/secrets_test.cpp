// Where the secrets of a server are while it runs: no copy in memory that a core dump would hold.
// The test keeps each secret masked, and looks through all memory of its own process for the true bytes.
#include <gtest/gtest.h>
#include <string.h>  // explicit_bzero

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "lattice/lattice.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LATTICE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LATTICE_SANITIZED 1
#endif
#endif

namespace lattice::test::secrets_test {
namespace {

constexpr uint8_t kMask = 0x5A;
constexpr size_t kSecretBytes = 32;

struct Region {
  uintptr_t begin = 0, end = 0;
  bool is_readable = false;
  bool is_dumped = true;
  std::string name;
};

std::vector<Region> regions() {
  std::vector<Region> out;
  std::FILE* file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return out;
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Region region;
    char access[5] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &region.begin, &region.end, access) == 3) {
      region.is_readable = access[0] == 'r' && std::strstr(line, "[v") == nullptr;
      region.name = line;
      out.push_back(region);
    } else if (std::strncmp(line, "VmFlags:", 8) == 0 && std::strstr(line, " dd ") != nullptr) {
      out.back().is_dumped = false;
    }
  }
  std::fclose(file);
  return out;
}

struct Copies {
  int in_dumped = 0;
  int apart = 0;
  std::string where;
};

Copies find_copies(const uint8_t* masked) {
  Copies copies;
  for (const Region& region : regions()) {
    if (!region.is_readable) continue;
    const auto* at = reinterpret_cast<const uint8_t*>(region.begin);
    const auto* const end = reinterpret_cast<const uint8_t*>(region.end) - kSecretBytes + 1;
    while (at < end) {
      at = static_cast<const uint8_t*>(std::memchr(at, masked[0] ^ kMask, static_cast<size_t>(end - at)));
      if (at == nullptr) break;
      size_t same = 1;
      while (same < kSecretBytes && (at[same] ^ kMask) == masked[same]) ++same;
      if (same == kSecretBytes) {
        ++(region.is_dumped ? copies.in_dumped : copies.apart);
        if (region.is_dumped) copies.where += region.name;
      }
      ++at;
    }
  }
  return copies;
}

/// A masked secret: bytes that occur nowhere by chance.
template <size_t N>
std::array<uint8_t, N> masked_secret(uint8_t salt) {
  std::array<uint8_t, N> out;
  for (size_t i = 0; i < N; ++i) out[i] = static_cast<uint8_t>((i * 37 + salt) ^ (i >> 3 << 5) ^ kMask);
  return out;
}

template <size_t N>
void unmask(const std::array<uint8_t, N>& masked, uint8_t* out) {
  for (size_t i = 0; i < N; ++i) out[i] = masked[i] ^ kMask;
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
#ifdef LATTICE_SANITIZED
    GTEST_SKIP() << "the sanitizer's own memory is too large to look through";
#endif
    if (regions().empty()) GTEST_SKIP() << "this system does not show its memory";
  }
};

TEST_F(Secrets, AServersIdentityIsInNoCoreDump) {
  const auto masked = masked_secret<LATTICE_SERVER_IDENTITY_BYTES>(17);
  const auto* const key = masked.data();
  const auto* const reset_key = masked.data() + kSecretBytes;
  uint8_t issuer_seed[LATTICE_KEY_BYTES], issuer[LATTICE_KEY_BYTES], identity[LATTICE_SERVER_IDENTITY_BYTES];
  ASSERT_EQ(lattice_issuer_generate(issuer_seed, issuer), LATTICE_OK);
  unmask(masked, identity);
  ASSERT_EQ(find_copies(key).in_dumped, 1) << "the caller's own copy is found";

  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:0";
  config.issuer_public_keys = issuer;
  config.issuer_public_key_count = 1;
  config.server_identity = identity;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  lattice_world* world = lattice_world_create(&config, &role);
  explicit_bzero(identity, sizeof identity);
  ASSERT_NE(world, nullptr) << lattice_last_error();
  lattice_world_pump(world);

  const Copies running = find_copies(key);
  EXPECT_EQ(running.in_dumped, 0) << running.where;
  EXPECT_GE(running.apart, 1);
  EXPECT_EQ(find_copies(reset_key).in_dumped, 0) << find_copies(reset_key).where;

  ASSERT_EQ(lattice_world_destroy(world), LATTICE_OK);
  const Copies after = find_copies(key);
  EXPECT_EQ(after.in_dumped + after.apart, 0) << after.where;
}

TEST_F(Secrets, ATokenLeavesNothingOfItsIssuersSeed) {
  const auto masked = masked_secret<LATTICE_KEY_BYTES>(91);
  uint8_t seed[LATTICE_KEY_BYTES], public_key[LATTICE_KEY_BYTES], token[LATTICE_TOKEN_MAX_BYTES];
  unmask(masked, seed);
  lattice_token_request request;
  lattice_token_request_init(&request);
  memset(request.server_public_key, 1, sizeof request.server_public_key);
  memset(request.client_public_key, 2, sizeof request.client_public_key);
  size_t bytes = 0;
  const lattice_result got_key = lattice_issuer_public_key(seed, public_key);
  const lattice_result issued = lattice_token_issue(seed, &request, token, sizeof token, &bytes);
  explicit_bzero(seed, sizeof seed);
  ASSERT_EQ(got_key, LATTICE_OK);
  ASSERT_EQ(issued, LATTICE_OK) << lattice_last_error();
  const Copies after = find_copies(masked.data());
  EXPECT_EQ(after.in_dumped, 0) << after.where;
}

}  // namespace
}  // namespace lattice::test::secrets_test
