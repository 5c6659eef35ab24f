#include "transport/crypto/development_key.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace lattice::crypto {
namespace {

DevelopmentKey sample() {
  DevelopmentKey key;
  for (uint8_t i = 0; i < 32; ++i) {
    key.server_public_key[i] = i;
    key.issuer_seed.mutable_bytes()[i] = static_cast<uint8_t>(0xFF - i);
  }
  return key;
}

std::string text_of(const DevelopmentKey& key) {
  std::array<uint8_t, kDevelopmentKeyTextBytes> text;
  write_development_key(key, text);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

bool read(const std::string& text, DevelopmentKey* out) {
  return read_development_key({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, out);
}

const std::string kGolden =
    "lattice development key 1\n"
    "server_public_key 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
    "issuer_seed fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0\n";

TEST(DevelopmentKey, TheTextIsAsDocumentedAndReadsBack) {
  EXPECT_EQ(text_of(sample()), kGolden);
  DevelopmentKey key;
  ASSERT_TRUE(read(kGolden, &key));
  EXPECT_EQ(key.server_public_key, sample().server_public_key);
  EXPECT_TRUE(equal_constant_time(key.issuer_seed.bytes(), sample().issuer_seed.bytes()));
}

TEST(DevelopmentKey, EveryTruncationAndAnythingMoreIsRefused) {
  DevelopmentKey key;
  for (size_t length = 0; length < kGolden.size(); ++length) {
    EXPECT_FALSE(read(kGolden.substr(0, length), &key)) << length;
  }
  EXPECT_FALSE(read(kGolden + "\n", &key));
  EXPECT_FALSE(read(kGolden + std::string(1, '\0'), &key));
}

TEST(DevelopmentKey, EveryByteThatIsNoLongerADigitOrTheTextIsRefused) {
  for (size_t i = 0; i < kGolden.size(); ++i) {
    std::string text = kGolden;
    text[i] = '%';
    DevelopmentKey key = sample();
    EXPECT_FALSE(read(text, &key)) << i;
    EXPECT_EQ(text_of(key), kGolden) << "the key moved at " << i;
  }
  std::string shifted = kGolden;  // as many digits in all, one too few in the first key
  shifted.erase(shifted.find("000102"), 1);
  shifted.insert(shifted.size() - 1, "0");
  DevelopmentKey key;
  EXPECT_FALSE(read(shifted, &key));
}

}  // namespace
}  // namespace lattice::crypto
