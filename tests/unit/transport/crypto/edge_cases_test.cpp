// Inputs at the edges of the curves and of the AEAD, in the manner of project Wycheproof: what an attacker
// may send where honest parties send random bytes. Each is refused or gives the one exact result; there is no
// third outcome. Values: RFC 7748, 8032, 8439 and arithmetic on their curves, computed apart from this
// library.
#include <gtest/gtest.h>

#include "transport/crypto/aead.h"
#include "transport/crypto/ed25519.h"
#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/x25519.h"
#include "unit/transport/hex.h"

namespace lattice::crypto {
namespace {

using test::array_from_hex;
using test::from_hex;
using test::to_hex;

// ---- X25519 ---------------------------------------------------------------------------------------------

/// The scalar of RFC 7748 §5.2, first vector.
Key rfc_scalar() {
  return Key(array_from_hex<32>("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
}

std::string shared_with(const PublicKey& peer) {
  Key shared;
  return x25519(rfc_scalar(), peer, &shared) ? to_hex(shared.bytes()) : "refused";
}

/// p + k for k in 0 … 18: the 19 encodings that are not below p = 2^255 − 19.
PublicKey non_canonical(uint8_t k) {
  PublicKey u;
  u.fill(0xff);
  u[0] = static_cast<uint8_t>(0xed + k);
  u[31] = 0x7f;
  return u;
}

TEST(X25519Edges, NonCanonicalCoordinatesAreTheirResidueExactly) {
  for (uint8_t k = 2; k < 19; ++k) {
    EXPECT_EQ(shared_with(non_canonical(k)), shared_with(PublicKey{k})) << int{k};
  }
  // The same against values computed elsewhere, so that both sides of the comparison are known to be right.
  EXPECT_EQ(shared_with(non_canonical(2)),
            "71cacba0b65daf53ddf9c21fb434bc58ee5cfa3954d1b642fc5155048f03466f");
  EXPECT_EQ(shared_with(non_canonical(9)),
            "1c9fd88f45606d932a80c71824ae151d15d73e77de38e8e000852e614fae7019");
  EXPECT_EQ(shared_with(non_canonical(18)),
            "76b00406ce7e87774c0038dd8d89b188047977f8828ca1dcb8f98bb5d5d0cf48");
}

TEST(X25519Edges, ZeroAndOneAreRefusedInEveryEncoding) {
  for (const uint8_t k : {uint8_t{0}, uint8_t{1}}) {
    EXPECT_EQ(shared_with(PublicKey{k}), "refused");
    EXPECT_EQ(shared_with(non_canonical(k)), "refused");
    PublicKey high = non_canonical(k);
    high[31] |= 0x80;
    EXPECT_EQ(shared_with(high), "refused");
  }
}

TEST(X25519Edges, TheTopBitOfACoordinateIsIgnored) {
  // RFC 7748 §5: implementations mask it.
  for (const char* text : {"e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                           "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                           "0900000000000000000000000000000000000000000000000000000000000000"}) {
    PublicKey u = array_from_hex<32>(text);
    const std::string plain = shared_with(u);
    u[31] ^= 0x80;
    EXPECT_EQ(shared_with(u), plain) << text;
    EXPECT_NE(plain, "refused");
  }
}

TEST(X25519Edges, CoordinatesNextToThePrimeAreExact) {
  EXPECT_EQ(
      shared_with(array_from_hex<32>("ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")),
      "db1808f6abcb049329d5a22f3b14b9d0dfb8c065f6b4795bfda27254ee01c44e");
  EXPECT_EQ(
      shared_with(array_from_hex<32>("fffffffffeffffffffffffffffffffffffffffffffffffffffffffffffffff7f")),
      "302af2db2d4e03b361d924d3a5478ffbca4122ad0274954886746ea67642664c");
  EXPECT_EQ(
      shared_with(array_from_hex<32>("0000000000000000000000000000000000000000000000000000000000000040")),
      "8a09c040d3eb3d5324a36d7660608c528d8ae3796e094b5345ff9bf897123715");
}

TEST(X25519Edges, ClampedBitsOfASecretDoNotMatter) {
  std::array<uint8_t, 32> secret{};
  secret.fill(0x5a);
  const KeyPair plain = KeyPair::from_secret(secret);
  std::array<uint8_t, 32> other = secret;
  other[0] ^= 0x07;   // cleared
  other[31] ^= 0x80;  // cleared
  EXPECT_EQ(KeyPair::from_secret(other).public_key(), plain.public_key());
  other[31] ^= 0x40;  // set
  EXPECT_EQ(KeyPair::from_secret(other).public_key(), plain.public_key());
  other[0] ^= 0x08;  // the lowest bit that counts
  EXPECT_NE(KeyPair::from_secret(other).public_key(), plain.public_key());
}

TEST(X25519Edges, AnAllZeroSecretStillHasAKey) {
  // Clamping makes it 2^254: not the zero that would give away the shared secret.
  const KeyPair zero = KeyPair::from_secret(std::array<uint8_t, 32>{});
  Key shared;
  ASSERT_TRUE(x25519(zero.secret(), PublicKey{9}, &shared));
  EXPECT_FALSE(equal_constant_time(shared.bytes(), PublicKey{}));
}

// ---- Ed25519 --------------------------------------------------------------------------------------------

/// The public key of RFC 8032 §7.1, test 1; the signatures below are its own over "lattice", or look so.
const PublicKey kSigner =
    array_from_hex<32>("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
const char* const kR = "40484b10a188cdf1e57816d18f22fc8217a58b1a7a016c2f5557d8288b708c80";

/// The eight points whose order divides 8, and the encodings of them with y not below p or a needless sign.
const char* const kSmallOrder[] = {"0100000000000000000000000000000000000000000000000000000000000000",
                                   "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
                                   "0000000000000000000000000000000000000000000000000000000000000080",
                                   "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                                   "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                                   "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
                                   "0000000000000000000000000000000000000000000000000000000000000000",
                                   "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
                                   "0100000000000000000000000000000000000000000000000000000000000080",
                                   "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                                   "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                                   "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                                   "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                                   "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};

bool verifies(const PublicKey& key, std::string_view message, const std::string& signature) {
  return verify_signature(key, message, {}, array_from_hex<64>(signature));
}

TEST(Ed25519Edges, OnlyTheSmallestSIsAccepted) {
  // S + L satisfies the same equation: accepting it makes signatures malleable (RFC 8032 §5.1.7).
  EXPECT_TRUE(verifies(kSigner, "lattice",
                       std::string(kR) + "5546eff0502981d8ed8a9a284fa43b2e7c2cde02c5a43643fd8c3e176eef270e"));
  EXPECT_FALSE(
      verifies(kSigner, "lattice",
               std::string(kR) + "421ae54d6b8c9330c42792cb2d9e1a437c2cde02c5a43643fd8c3e176eef271e"));
}

TEST(Ed25519Edges, SAtAndAroundTheGroupOrderIsRefused) {
  // L − 1 is in range and wrong; L, L + 1 and 2^256 − 1 are out of range.
  for (const char* s : {"ecd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
                        "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
                        "eed3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
                        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                        "0000000000000000000000000000000000000000000000000000000000000000"}) {
    EXPECT_FALSE(verifies(kSigner, "lattice", std::string(kR) + s)) << s;
  }
}

TEST(Ed25519Edges, KeysOfSmallOrderVerifyNothing) {
  // With such a key, R the identity and S = 0, a lax verifier accepts one message in eight, or all of them.
  const std::string identity_and_zero = std::string(kSmallOrder[0]) + std::string(64, '0');
  for (const char* key : kSmallOrder) {
    for (int i = 0; i < 32; ++i) {
      const char message[1] = {static_cast<char>(i)};
      EXPECT_FALSE(verifies(array_from_hex<32>(key), {message, 1}, identity_and_zero)) << key << ' ' << i;
    }
  }
}

TEST(Ed25519Edges, RIsNotOfSmallOrder) {
  // S = H(R, A, M) · a: the holder of the key can make these, and they fix the nonce to nothing. The first
  // satisfies the equation itself, the others its cofactored form.
  const char* s_of[] = {"6dcbfb66585acd6c09e5eb606506b806c4baa7d774223f5cbf48c92ab7413f01",
                        "b3a7d842923838483fbc3cbb4bae68b1faa6357b4f49f2f831a7c6cc9c4a6b0c",
                        "2e02ee20fb8f102f165f30a8eeb15f413fcf778dbfbc24dad30a60a00a171900",
                        "4a1695540945a5b332912c7a671438fdd3bf82087c27dbc76e39e4cab94bc308",
                        "1a5d2a934b987c970c604cd5731019759c2353f2e054e6b0665477da82c2c400",
                        "de28de098fbd266840f18623e128b46a10e8b15221aa28b1961d8929c5fc5a06",
                        "323a8a431814a06a42f5f3aa3c9aa78e601224efbe1a7e351abdbf7a4a0fc205",
                        "ee7ebbfbb28392d7bf71b6df05128e5811ceb8409b95be3a583ebcdd1540d304"};
  for (size_t i = 0; i < std::size(s_of); ++i) {
    EXPECT_FALSE(verifies(kSigner, "lattice", std::string(kSmallOrder[i]) + s_of[i])) << i;
  }
}

TEST(Ed25519Edges, TheEquationHasNoCofactor) {
  // Times 8 these hold, as they stand they do not: a verifier of the other kind would disagree with this one
  // about which tokens exist. First two: R with a component of order 8, of order 2. Last: the key has one.
  EXPECT_FALSE(verifies(kSigner, "lattice",
                        "a8ab1d21353bfe596080f9fde260061cd3c2d118faa970105d759c4dc7974c0f"
                        "0ac98042574bda1292a87fbb958fc3ce4858e83842b3c2760420f3ae0f086e09"));
  EXPECT_FALSE(verifies(kSigner, "lattice",
                        "adb7b4ef5e77320e1a87e92e70dd037de85a74e585fe93d0aaa827d7748f737f"
                        "4b32ee958298194804ff1ea6601f45753a4d4f4a19203731389a1d3d43a4930f"));
  const auto mixed = array_from_hex<32>("9158312a9a8d6e3b34c891d6d61444f8b8211c5117ebad15bdb0bd68b07e0245");
  EXPECT_FALSE(
      verifies(mixed, "lattice",
               std::string(kR) + "d58e8b28f93c89bf79fba8a4230fb593f4acf47342ab575edee175e6cdd85707"));
}

TEST(Ed25519Edges, EncodingsThatAreNoPointAreRefused) {
  // y = 2 is on no point of the curve, y = p + 3 is 3 written long.
  const std::string good_s = "5546eff0502981d8ed8a9a284fa43b2e7c2cde02c5a43643fd8c3e176eef270e";
  for (const char* point : {"0200000000000000000000000000000000000000000000000000000000000000",
                            "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}) {
    EXPECT_FALSE(verifies(kSigner, "lattice", point + good_s)) << "as R: " << point;
    EXPECT_FALSE(verifies(array_from_hex<32>(point), "lattice", kR + good_s)) << "as key: " << point;
  }
}

// ---- ChaCha20-Poly1305 ----------------------------------------------------------------------------------

TEST(AeadEdges, Rfc8439AppendixA5) {
  const Key key(array_from_hex<32>("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0"));
  const Nonce nonce = array_from_hex<12>("000000000102030405060708");
  const std::vector<uint8_t> aad = from_hex("f33388860000000000004e91");
  const std::vector<uint8_t> sealed = from_hex(
      "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d26b0bdb7b7"
      "3c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c8559797a06ef4f0"
      "ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cde7a4e99040c5a40433225ee2"
      "82a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a0bb2316053fa76991955ebd6"
      "3159434ecebb4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c"
      "29a6ad5cb4022b02709beead9d67890cbb22392336fea1851f38");
  std::vector<uint8_t> out(sealed.size() - kTagBytes);
  ASSERT_TRUE(open(key, nonce, aad, sealed, out));
  EXPECT_EQ(
      std::string(out.begin(), out.end()),
      "Internet-Drafts are draft documents valid for a maximum of six months and may be updated, "
      "replaced, or obsoleted by other documents at any time. It is inappropriate to use Internet-Drafts "
      "as reference material or to cite them other than as /\xe2\x80\x9cwork in progress./\xe2\x80\x9d");
}

TEST(AeadEdges, EveryBitOfTagNonceAndAssociatedDataCounts) {
  nonce_ledger_clear();
  const Key key(array_from_hex<32>("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
  const Nonce nonce = make_nonce(77, 3);
  const std::vector<uint8_t> aad(23, 0x21);
  std::vector<uint8_t> sealed(5 + kTagBytes, 0x6d);
  seal_in_place(key, nonce, aad, sealed);
  std::vector<uint8_t> out(5);
  const auto flipped = [](auto bytes, size_t bit) {
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    return bytes;
  };
  ASSERT_TRUE(open(key, nonce, aad, sealed, out));
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    EXPECT_FALSE(open(key, nonce, aad, flipped(sealed, bit), out)) << "sealed, bit " << bit;
  }
  for (size_t bit = 0; bit < nonce.size() * 8; ++bit) {
    EXPECT_FALSE(open(key, flipped(nonce, bit), aad, sealed, out)) << "nonce, bit " << bit;
  }
  for (size_t bit = 0; bit < aad.size() * 8; ++bit) {
    EXPECT_FALSE(open(key, nonce, flipped(aad, bit), sealed, out)) << "associated data, bit " << bit;
  }
}

TEST(AeadEdges, TagsOfAllZerosAndAllOnesAreNotSpecial) {
  const Key key(array_from_hex<32>("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
  std::vector<uint8_t> out(32);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{16}, size_t{32}}) {
    for (const uint8_t fill : {uint8_t{0}, uint8_t{0xff}}) {
      std::vector<uint8_t> sealed(bytes, 0);
      sealed.resize(bytes + kTagBytes, fill);
      EXPECT_FALSE(open(key, make_nonce(1, 0), {}, sealed, std::span(out).first(bytes))) << bytes;
    }
  }
}

}  // namespace
}  // namespace lattice::crypto
