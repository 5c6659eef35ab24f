// The primitives against the vectors of their RFCs.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>

#include "platform/byte_order.h"
#include "transport/crypto/aead.h"
#include "transport/crypto/ed25519.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/repeatable_entropy.h"
#include "transport/crypto/x25519.h"
#include "unit/transport/crypto/key_from_hex.h"

namespace lattice::crypto {
namespace {

using test::array_from_hex;
using test::from_hex;
using test::key_from_hex;
using test::to_hex;

std::vector<uint8_t> counting(uint8_t first, size_t n) {
  std::vector<uint8_t> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

TEST(RepeatableEntropy, FollowsFromTheSeedAndNeverRepeatsWithinIt) {
  RepeatableEntropy first(7), again(7), other(8);
  std::set<std::array<uint8_t, 16>> seen;
  for (int draw = 0; draw < 100; ++draw) {
    std::array<uint8_t, 16> a, b, c;
    first.fill(a), again.fill(b), other.fill(c);
    EXPECT_EQ(a, b);
    EXPECT_TRUE(seen.insert(a).second);
    EXPECT_TRUE(seen.insert(c).second);
  }
}

TEST(Hash, Sha256OfAbcHoweverSplit) {
  const std::string expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(to_hex(sha256({text("abc")})), expected);
  EXPECT_EQ(to_hex(sha256({text("a"), {}, text("bc")})), expected);
}

TEST(Hash, HmacRfc4231Case2) {
  EXPECT_EQ(to_hex(hmac_sha256(text("Jefe"), {text("what do ya want "), text("for nothing?")})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hkdf, Rfc5869Case1) {
  const std::vector<uint8_t> ikm(22, 0x0b);
  const std::vector<uint8_t> salt = counting(0, 13);
  const std::vector<uint8_t> info = counting(0xf0, 10);
  const Key prk = hkdf_extract(salt, {ikm});
  EXPECT_EQ(to_hex(prk.bytes()), "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
  std::array<uint8_t, 42> okm;
  hkdf_expand(prk.bytes(), {info}, okm);
  EXPECT_EQ(to_hex(okm),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
}

TEST(HmacKey, GivesWhatTheOneShotGivesAnyNumberOfTimes) {
  for (const size_t key_bytes : {1u, 32u, 64u, 65u, 200u}) {  // Keys above a block are hashed first.
    const std::vector<uint8_t> key = counting(3, key_bytes);
    HmacKey prepared{key};
    for (const size_t bytes : {0u, 1u, 55u, 56u, 64u, 136u}) {
      const std::vector<uint8_t> message = counting(9, bytes);
      EXPECT_EQ(prepared.hmac({message, text("tail")}), hmac_sha256(key, {message, text("tail")}));
    }
    prepared.erase();
    EXPECT_NE(prepared.hmac({}), hmac_sha256(key, {})) << "nothing of the key is left";
  }
}

TEST(Hkdf, Rfc5869Case2) {
  const std::vector<uint8_t> ikm = counting(0, 80);
  const std::vector<uint8_t> salt = counting(0x60, 80);
  const std::vector<uint8_t> info = counting(0xb0, 80);
  const Key prk = hkdf_extract(salt, {ikm});
  EXPECT_EQ(to_hex(prk.bytes()), "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244");
  std::array<uint8_t, 82> okm;
  hkdf_expand(prk.bytes(), {info}, okm);
  EXPECT_EQ(to_hex(okm),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87");
}

TEST(Hkdf, Rfc5869Case3WithoutSaltAndInfo) {
  const std::vector<uint8_t> ikm(22, 0x0b);
  const Key prk = hkdf_extract({}, {ikm});
  EXPECT_EQ(to_hex(prk.bytes()), "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04");
  std::array<uint8_t, 42> okm;
  hkdf_expand(prk.bytes(), {}, okm);
  EXPECT_EQ(to_hex(okm),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(X25519, Rfc7748Section52) {
  struct Case {
    const char* scalar;
    const char* u;
    const char* result;
  };
  const Case cases[] = {{"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                         "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                         "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
                        {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                         "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                         "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"}};
  for (const Case& c : cases) {
    Key shared;
    ASSERT_TRUE(x25519(key_from_hex(c.scalar), array_from_hex<32>(c.u), &shared));
    EXPECT_EQ(to_hex(shared.bytes()), c.result);
  }
}

TEST(X25519, Rfc7748ThousandIterations) {
  PublicKey u = {9};
  Key k{std::span<const uint8_t, 32>(u)};
  for (int i = 0; i < 1000; ++i) {
    Key next;
    ASSERT_TRUE(x25519(k, u, &next));
    std::copy(k.bytes().begin(), k.bytes().end(), u.begin());
    k = std::move(next);
    if (i == 0) {
      EXPECT_EQ(to_hex(k.bytes()), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    }
  }
  EXPECT_EQ(to_hex(k.bytes()), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

TEST(X25519, Rfc7748DiffieHellman) {
  const auto bob_secret =
      array_from_hex<32>("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  const KeyPair bob = KeyPair::from_secret(bob_secret);
  EXPECT_EQ(to_hex(bob.public_key()), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  Key shared;
  ASSERT_TRUE(x25519(bob.secret(),
                     array_from_hex<32>("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"),
                     &shared));
  EXPECT_EQ(to_hex(shared.bytes()), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
}

TEST(X25519, LowOrderPointsAreRefusedAndTheOutputIsWiped) {
  const char* points[] = {"0000000000000000000000000000000000000000000000000000000000000000",
                          "0100000000000000000000000000000000000000000000000000000000000000",
                          "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                          "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                          "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                          "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                          "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};
  SystemEntropy entropy;
  const KeyPair own = KeyPair::generate(entropy);
  for (const char* point : points) {
    for (const uint8_t high_bit : {uint8_t{0}, uint8_t{0x80}}) {
      PublicKey peer = array_from_hex<32>(point);
      peer[31] |= high_bit;
      Key shared{std::span<const uint8_t, 32>(own.public_key())};
      EXPECT_FALSE(x25519(own.secret(), peer, &shared)) << point;
      EXPECT_TRUE(equal_constant_time(shared.bytes(), PublicKey{})) << point;
    }
  }
}

TEST(Ed25519, Rfc8032Test1And2) {
  const auto seed1 = array_from_hex<32>("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const SigningKeyPair one = SigningKeyPair::from_seed(seed1);
  EXPECT_EQ(to_hex(one.public_key()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const Signature empty = one.sign("", {});
  EXPECT_EQ(to_hex(empty),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
  EXPECT_TRUE(verify_signature(one.public_key(), "", {}, empty));

  const auto seed2 = array_from_hex<32>("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const SigningKeyPair two = SigningKeyPair::from_seed(seed2);
  EXPECT_EQ(to_hex(two.public_key()), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const char* expected =
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2e"
      "aeb4302aeeb00d291612bb0c00";
  // The domain is a plain prefix, so both ways to spell one byte agree.
  EXPECT_EQ(to_hex(two.sign("r", {})), expected);
  const std::vector<uint8_t> message = {0x72};
  EXPECT_EQ(to_hex(two.sign("", message)), expected);
}

TEST(Ed25519, Rfc8032Test3AndShaAbc) {
  const auto seed3 = array_from_hex<32>("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7");
  const std::vector<uint8_t> message = {0xaf, 0x82};
  EXPECT_EQ(to_hex(SigningKeyPair::from_seed(seed3).sign("", message)),
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
            "4a7c15e9716ed28dc027beceea1ec40a");

  const auto seed = array_from_hex<32>("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42");
  const std::vector<uint8_t> sha512_of_abc = from_hex(
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d44"
      "23"
      "643ce80e2a9ac94fa54ca49f");
  const SigningKeyPair pair = SigningKeyPair::from_seed(seed);
  const Signature signature = pair.sign("", sha512_of_abc);
  EXPECT_EQ(to_hex(signature),
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
            "3dca179c138ac17ad9bef1177331a704");
  EXPECT_TRUE(verify_signature(pair.public_key(), "", sha512_of_abc, signature));
}

TEST(Ed25519, EveryFlippedBitOfTheSignatureIsRefused) {
  SystemEntropy entropy;
  const SigningKeyPair pair = SigningKeyPair::generate(entropy);
  const std::vector<uint8_t> message = {1, 2, 3};
  const Signature good = pair.sign("domain", message);
  ASSERT_TRUE(verify_signature(pair.public_key(), "domain", message, good));
  EXPECT_FALSE(verify_signature(pair.public_key(), "other", message, good));
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    Signature bad = good;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ (1u << (bit % 8)));
    EXPECT_FALSE(verify_signature(pair.public_key(), "domain", message, bad)) << "bit " << bit;
  }
}

TEST(Ed25519, MessagesBeyondTheBoundAreRefused) {
  SystemEntropy entropy;
  const SigningKeyPair pair = SigningKeyPair::generate(entropy);
  const std::vector<uint8_t> largest(kMaxSignedBytes - 1, 7);
  EXPECT_TRUE(verify_signature(pair.public_key(), "d", largest, pair.sign("d", largest)));
  const std::vector<uint8_t> larger(kMaxSignedBytes, 7);
  EXPECT_FALSE(verify_signature(pair.public_key(), "d", larger, Signature{}));
}

class Aead : public testing::Test {
 protected:
  void SetUp() override { nonce_ledger_clear(); }
};

TEST_F(Aead, Rfc8439Section282) {
  const Key key{std::span<const uint8_t, 32>(counting(0x80, 32).data(), 32)};
  const Nonce nonce = array_from_hex<12>("070000004041424344454647");
  const std::vector<uint8_t> aad = from_hex("50515253c0c1c2c3c4c5c6c7");
  const std::string_view plaintext =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
      "would be it.";
  std::vector<uint8_t> buffer(plaintext.begin(), plaintext.end());
  buffer.resize(buffer.size() + kTagBytes);
  seal_in_place(key, nonce, aad, buffer);
  EXPECT_EQ(to_hex(buffer),
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
            "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
            "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691");

  std::vector<uint8_t> out(plaintext.size());
  EXPECT_TRUE(open(key, nonce, aad, buffer, out));
  EXPECT_EQ(std::string(out.begin(), out.end()), plaintext);
  EXPECT_TRUE(open_in_place(key, nonce, aad, buffer));
  EXPECT_TRUE(std::equal(plaintext.begin(), plaintext.end(), buffer.begin()));
}

TEST_F(Aead, EveryTruncationAndFlippedByteIsRefused) {
  SystemEntropy entropy;
  Key key;
  entropy.fill(key.mutable_bytes());
  const std::vector<uint8_t> aad = {9, 8, 7};
  std::vector<uint8_t> sealed = counting(1, 20);
  sealed.resize(sealed.size() + kTagBytes);
  const Nonce nonce = make_nonce(5, 0);
  seal_in_place(key, nonce, aad, sealed);
  std::vector<uint8_t> out(sealed.size());
  ASSERT_TRUE(open(key, nonce, aad, sealed, out));
  for (size_t n = 0; n < sealed.size(); ++n) {
    EXPECT_FALSE(open(key, nonce, aad, std::span(sealed).first(n), out));
    std::vector<uint8_t> bad = sealed;
    bad[n] ^= 1;
    EXPECT_FALSE(open(key, nonce, aad, bad, out));
  }
  EXPECT_FALSE(open(key, nonce, {}, sealed, out));
  EXPECT_FALSE(open(key, make_nonce(6, 0), aad, sealed, out));
  EXPECT_FALSE(open(key, make_nonce(5, 1), aad, sealed, out));
}

TEST(NonceLayout, SequenceLowThenEpochLast) {
  EXPECT_EQ(to_hex(make_nonce(0x0102030405060708, 1)), "080706050403020100000001");
  EXPECT_EQ(make_nonce(0, 0), Nonce{});
}

TEST(Secret, MoveLeavesNothingBehind) {
  Key a{std::span<const uint8_t, 32>(counting(1, 32).data(), 32)};
  const Key b = std::move(a);
  EXPECT_TRUE(equal_constant_time(a.bytes(), PublicKey{}));  // NOLINT(bugprone-use-after-move): the point.
  EXPECT_EQ(b.bytes()[0], 1);
  Key c = b.clone();
  c.erase();
  EXPECT_TRUE(equal_constant_time(c.bytes(), PublicKey{}));
  EXPECT_EQ(b.bytes()[31], 32);
}

TEST(Secret, ConstantTimeCompare) {
  const std::vector<uint8_t> a = {1, 2, 3}, b = {1, 2, 4}, shorter = {1, 2};
  EXPECT_TRUE(equal_constant_time(a, a));
  EXPECT_FALSE(equal_constant_time(a, b));
  EXPECT_FALSE(equal_constant_time(a, shorter));
  EXPECT_TRUE(equal_constant_time({}, {}));
}

#if defined(LATTICE_VALIDATION)
using NonceLedgerDeathTest = Aead;

TEST_F(NonceLedgerDeathTest, RepeatedOrLowerNonceUnderOneKeyAborts) {
  SystemEntropy entropy;
  Key key, other;
  entropy.fill(key.mutable_bytes());
  entropy.fill(other.mutable_bytes());
  std::vector<uint8_t> buffer(20);
  seal_in_place(key, make_nonce(1, 0), {}, buffer);
  seal_in_place(other, make_nonce(1, 0), {}, buffer);
  seal_in_place(key, make_nonce(2, 0), {}, buffer);
  EXPECT_EQ(nonce_ledger_count(), 3u);
  EXPECT_DEATH(seal_in_place(key, make_nonce(2, 0), {}, buffer), "nonce_is_new_under_this_key");
  EXPECT_DEATH(seal_in_place(key, make_nonce(1, 0), {}, buffer), "nonce_is_new_under_this_key");
}

TEST_F(NonceLedgerDeathTest, AHandshakeKeyMayMakeTheSameBytesAgainAndNoOthers) {
  SystemEntropy entropy;
  Key key;
  entropy.fill(key.mutable_bytes());
  for (int i = 0; i < 2; ++i) {
    std::vector<uint8_t> buffer(20, 7);
    seal_in_place(key, make_nonce(0, 0), {}, buffer);
  }
  EXPECT_EQ(nonce_ledger_count(), 1u);
  std::vector<uint8_t> other(20, 8), other_aad(20, 7);
  EXPECT_DEATH(seal_in_place(key, make_nonce(0, 0), {}, other), "nonce_is_new_under_this_key");
  EXPECT_DEATH(seal_in_place(key, make_nonce(0, 0), other, other_aad), "nonce_is_new_under_this_key");
}

TEST_F(NonceLedgerDeathTest, KeysInUseSurviveManyOthers) {
  SystemEntropy entropy;
  Key key;
  entropy.fill(key.mutable_bytes());
  std::vector<uint8_t> buffer(16);
  for (uint64_t i = 0; i < 70'000; ++i) {
    std::array<uint8_t, 32> fresh{};
    platform::store_u64_le(fresh.data(), i);
    seal_in_place(Key(fresh), make_nonce(1, 0), {}, buffer);
    if (i % 1000 == 0) seal_in_place(key, make_nonce(i + 1, 0), {}, buffer);
  }
  EXPECT_DEATH(seal_in_place(key, make_nonce(69'001, 0), {}, buffer), "nonce_is_new_under_this_key");
}
#endif

}  // namespace
}  // namespace lattice::crypto
