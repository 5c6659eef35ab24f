// Both ciphers behind one key: a published vector, round trips, and every flipped bit.
#include "transport/crypto/packet_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "transport/crypto/nonce_ledger.h"
#include "unit/transport/crypto/key_from_hex.h"

namespace lattice::crypto {
namespace {

using Bytes = std::vector<uint8_t>;
using test::from_hex;
using test::key_from_hex;

class PacketKeyOf : public testing::TestWithParam<Cipher> {
 protected:
  void SetUp() override {
    nonce_ledger_clear();
    if (GetParam() == Cipher::kAes256Gcm && !has_aes256gcm()) GTEST_SKIP() << "no AES instructions here";
  }
  PacketKey key() const { return PacketKey(GetParam(), key_from_hex(std::string(64, '7'))); }
};

TEST_P(PacketKeyOf, OpensWhatItSealedAtEveryLength) {
  const PacketKey sealing = key(), opening = key();
  const Bytes aad(15, 0xAD);
  for (size_t bytes = 0; bytes <= 1300; ++bytes) {
    Bytes buffer(bytes + kTagBytes, 0x5A);
    const Bytes plaintext(buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(bytes));
    const Nonce nonce = make_nonce(bytes + 1, 0);
    sealing.seal_in_place(nonce, aad, buffer);
    ASSERT_TRUE(opening.open_in_place(nonce, aad, buffer)) << bytes;
    ASSERT_TRUE(std::equal(plaintext.begin(), plaintext.end(), buffer.begin())) << bytes;
  }
}

TEST_P(PacketKeyOf, RefusesEveryFlippedBitAndEveryShorterPacket) {
  const PacketKey one = key();
  const Bytes aad(15, 0xAD);
  const Nonce nonce = make_nonce(1, 0);
  Bytes sealed(40 + kTagBytes, 0x5A);
  one.seal_in_place(nonce, aad, sealed);
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    Bytes forged = sealed;
    forged[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    ASSERT_FALSE(one.open_in_place(nonce, aad, forged)) << bit;
  }
  for (size_t bytes = 0; bytes < sealed.size(); ++bytes) {
    Bytes cut(sealed.begin(), sealed.begin() + static_cast<ptrdiff_t>(bytes));
    ASSERT_FALSE(one.open_in_place(nonce, aad, cut)) << bytes;
  }
  Bytes other_aad = aad;
  other_aad[14] ^= 1;
  Bytes copy = sealed;
  EXPECT_FALSE(one.open_in_place(nonce, other_aad, copy));
  copy = sealed;
  EXPECT_FALSE(one.open_in_place(make_nonce(2, 0), aad, copy));
  copy = sealed;
  EXPECT_TRUE(one.open_in_place(nonce, aad, copy));
}

TEST_P(PacketKeyOf, MovesWithItsSchedule) {
  PacketKey from = key();
  PacketKey to;
  to = std::move(from);
  Bytes buffer(8 + kTagBytes, 1);
  to.seal_in_place(make_nonce(1, 0), {}, buffer);
  EXPECT_TRUE(key().open_in_place(make_nonce(1, 0), {}, buffer));
}

#if defined(LATTICE_VALIDATION)
TEST_P(PacketKeyOf, IsWatchedByTheNonceLedger) {
  const PacketKey one = key();
  Bytes buffer(8 + kTagBytes, 1);
  one.seal_in_place(make_nonce(5, 0), {}, buffer);
  EXPECT_DEATH(one.seal_in_place(make_nonce(5, 0), {}, buffer), "nonce_is_new_under_this_key");
}
#endif

INSTANTIATE_TEST_SUITE_P(Ciphers, PacketKeyOf, testing::Values(Cipher::kChaCha20Poly1305, Cipher::kAes256Gcm),
                         [](const auto& each) {
                           return each.param == Cipher::kAes256Gcm ? "Aes256Gcm" : "ChaCha20Poly1305";
                         });

// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16.
TEST(PacketKey, MatchesThePublishedGcmVector) {
  if (!has_aes256gcm()) GTEST_SKIP() << "no AES instructions here";
  nonce_ledger_clear();
  const PacketKey key(Cipher::kAes256Gcm,
                      key_from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  const Bytes aad = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  Bytes buffer = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aed"
      "f5aa"
      "0de657ba637b39");
  buffer.resize(buffer.size() + kTagBytes);
  Nonce nonce;
  std::ranges::copy(from_hex("cafebabefacedbaddecaf888"), nonce.begin());
  key.seal_in_place(nonce, aad, buffer);
  EXPECT_EQ(buffer,
            from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b0"
                     "8b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"));
}

// The two are different ciphers, not two names of one: neither opens what the other sealed.
TEST(PacketKey, CiphersDoNotOpenEachOther) {
  if (!has_aes256gcm()) GTEST_SKIP() << "no AES instructions here";
  nonce_ledger_clear();
  const std::string text(64, '3');
  const PacketKey aes(Cipher::kAes256Gcm, key_from_hex(text));
  const PacketKey chacha(Cipher::kChaCha20Poly1305, key_from_hex(text));
  Bytes by_aes(32 + kTagBytes, 9), by_chacha(32 + kTagBytes, 9);
  aes.seal_in_place(make_nonce(1, 0), {}, by_aes);
  chacha.seal_in_place(make_nonce(2, 0), {}, by_chacha);
  EXPECT_FALSE(chacha.open_in_place(make_nonce(1, 0), {}, by_aes));
  EXPECT_FALSE(aes.open_in_place(make_nonce(2, 0), {}, by_chacha));
}

}  // namespace
}  // namespace lattice::crypto
