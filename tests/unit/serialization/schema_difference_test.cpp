// What differs in two schema texts, and that any bytes may be one.
#include "serialization/schema_difference.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lattice::serialization {
namespace {

constexpr const char* kOurs =
    "lattice schema 1\nwire 1.0\nchannels\nchannel 0 unreliable\n"
    "type 3 Player object\nbehaviour Fighter\n"
    " member health uint16 bits 10 flags 0\n member place vector2 compressed 10 0 1 1000 compressed 10 0 1 "
    "1000 flags 1\n"
    " member slot struct Slot delta\n  member id uint8 fixed 8 flags 0\n"
    " rpc 1 fire channel 2 target 0 owner_only 1 delivery 0\nbehaviour Fire\n member at tick varint 32 flags "
    "0\n"
    "input Command\nbehaviour Command\n member jump bool flags 0\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

std::vector<std::string> sentences(const std::string& theirs, Extent extent = Extent::kWhole) {
  std::vector<std::string> out;
  for (const SchemaDifference& difference : schema_differences(kOurs, theirs, extent)) {
    out.push_back(describe_to_client(difference));
  }
  return out;
}

using Sentences = std::vector<std::string>;

TEST(SchemaDifference, NamesTheMemberAndBothSides) {
  EXPECT_EQ(sentences(kOurs), Sentences{});
  EXPECT_EQ(sentences(with(kOurs, "bits 10", "bits 12")),
            Sentences{"Player.Fighter.health: client uint16 bits 10, server uint16 bits 12"});
  EXPECT_EQ(sentences(with(kOurs, "id uint8 fixed 8", "id uint16 fixed 16")),
            Sentences{"Player.Fighter.slot.id: client uint8 fixed 8, server uint16 fixed 16"});
  EXPECT_EQ(sentences(with(kOurs, "at tick varint 32", "at tick fixed 32")),
            Sentences{"Player.rpc fire.Fire.at: client tick varint 32, server tick fixed 32"});
}

TEST(SchemaDifference, SoManyAreBelievedAndNoMore) {
  std::string lines;
  for (size_t i = 0; i < kMaxDifferencesTold; ++i) lines += "Crate.m" + std::to_string(i) + "\tbool\n";
  EXPECT_EQ(differences_told(kOurs, lines + "\t\n\n").size(), kMaxDifferencesTold) << "nor the order besides";
}

// What no type declares: the members of lattice_world_config are named.
TEST(SchemaDifference, NamesTheSettingsOfChannels) {
  const std::string plain = "lattice 1\nchannels\nchannel 3 reliable_ordered\nchannel 14 ack\n";
  const std::string bulk5 = with(plain, "channel 14", "channel 5 bulk\nchannel 14");
  const std::string bulk6 = with(plain, "channel 14", "channel 6 bulk\nchannel 14");
  const auto told = [](const std::string& client, const std::string& server) {
    std::vector<std::string> out;
    const auto differences = schema_differences(client, server, Extent::kWhole);
    for (const SchemaDifference& difference : differences) out.push_back(describe_to_client(difference));
    Sentences at_server;
    for (const SchemaDifference& difference : differences_told(server, told_lines(differences, 512))) {
      at_server.push_back(describe_to_server(difference));
    }
    EXPECT_EQ(at_server, out) << "both sides say the same";
    return out;
  };
  EXPECT_EQ(told(bulk5, bulk6), Sentences{"transfer_channel: client 5, server 6"});
  EXPECT_EQ(told(bulk5, plain), Sentences{"transfer_channel: only the client has it"});
  EXPECT_EQ(told(plain, plain + "transport only\n"), Sentences{"transport_only: only the server has it"});
}

TEST(SchemaDifference, NamesWhatOneSideAloneHasWithoutWhatIsInIt) {
  EXPECT_EQ(sentences(with(kOurs, " member slot struct Slot delta\n  member id uint8 fixed 8 flags 0\n", "")),
            Sentences{"Player.Fighter.slot: only the client has it"});
  EXPECT_EQ(sentences(std::string(kOurs) + "type 9 Crate object\nbehaviour Box\n member x bool flags 0\n"),
            Sentences{"Crate: only the server has it"});
  EXPECT_EQ(
      sentences(with(with(kOurs, " member health uint16 bits 10 flags 0\n", ""), " member slot",
                     " member health uint16 bits 10 flags 0\n member slot")),
      Sentences{"client and server declare what both have in another order, from Player.Fighter.health on"});
  EXPECT_EQ(sentences(with(with(kOurs, " member health uint16 bits 10 flags 0\n", ""), " member slot",
                           " member health uint16 bits 12 flags 0\n member slot")),
            (Sentences{
                "Player.Fighter.health: client uint16 bits 10, server uint16 bits 12",
                "client and server declare what both have in another order, from Player.Fighter.health on"}));
}

TEST(SchemaDifference, OfAFrontOnlyWhatIsInItIsSaid) {
  const std::string theirs = with(kOurs, "bits 10", "bits 12");
  const std::string front = theirs.substr(0, theirs.find("compressed") + 4);
  EXPECT_EQ(sentences(front, Extent::kFront),
            Sentences{"Player.Fighter.health: client uint16 bits 10, server uint16 bits 12"});
  EXPECT_EQ(sentences("", Extent::kFront), Sentences{});
}

Sentences at_server(const std::string& servers, const std::string& clients, size_t max_bytes = 512) {
  Sentences out;
  const std::string lines = told_lines(schema_differences(clients, servers), max_bytes);
  EXPECT_LE(lines.size(), max_bytes);
  for (const SchemaDifference& difference : differences_told(servers, lines)) {
    out.push_back(describe_to_server(difference));
  }
  return out;
}

TEST(SchemaDifference, BothSidesSayTheSame) {
  const std::string ours = kOurs;
  for (const std::string& theirs :
       {with(ours, "bits 10", "bits 12"), with(ours, "id uint8 fixed 8", "id uint16 fixed 16"),
        with(ours, "at tick varint 32", "at tick fixed 32"), with(ours, "jump bool", "leap bool"),
        with(ours, " member slot struct Slot delta\n  member id uint8 fixed 8 flags 0\n", ""),
        ours + "type 9 Crate object\nbehaviour Box\n member x bool flags 0\n",
        with(with(ours, " member health uint16 bits 10 flags 0\n", ""), " member slot",
             " member health uint16 bits 10 flags 0\n member slot")}) {
    EXPECT_FALSE(sentences(theirs).empty());
    EXPECT_EQ(at_server(theirs, ours), sentences(theirs));
  }
  EXPECT_EQ(told_lines(schema_differences(ours, with(ours, "bits 10", "bits 12")), 512),
            "Player.Fighter.health\tuint16 bits 10 flags 0\n");
}

TEST(SchemaDifference, WholeLinesAreToldAsManyAsFit) {
  std::string many = kOurs;
  for (int i = 0; i < 40; ++i)
    many += "type " + std::to_string(100 + i) + " T" + std::to_string(i) + " object\n";
  const Sentences all = at_server(kOurs, many, 64 * 1024);
  EXPECT_EQ(all.size(), kMaxDifferencesTold) << "a server reads no more of one client";
  const Sentences few = at_server(kOurs, many, 50);  // "T0\t100 object\n" has 14 bytes
  EXPECT_EQ(few, (Sentences{"T0: only the client has it", "T1: only the client has it",
                            "T2: only the client has it"}));
  EXPECT_EQ(told_lines(schema_differences(many, kOurs), 13), "");
}

TEST(SchemaDifference, AServerBelievesOfTheClientOnly) {
  const auto told = [](std::string_view lines) {
    Sentences out;
    for (const SchemaDifference& difference : differences_told(kOurs, lines)) {
      out.push_back(describe_to_server(difference));
    }
    return out;
  };
  EXPECT_EQ(told("Player.Fighter.health\tuint16 bits 10 flags 0\n"), Sentences{}) << "it is the same here";
  EXPECT_EQ(told("Nobody\nNobody.x\n"), Sentences{}) << "neither side has it";
  EXPECT_EQ(told("Player.Fighter.health\t9 lies, server nothing\n"),
            Sentences{"Player.Fighter.health: client 9 ? server ?, server uint16 bits 10"});
  EXPECT_EQ(told("<b>\tbool\nA\x1b[0m\tbool\nserver: all is well\tbool\n\tbool\nPlayer\xc3\xa4\n"),
            Sentences{});
  EXPECT_EQ(told("rpc a\tbool\nPlayer.rpc b.c\tbool\nPlayer.xrpc d\tbool\nrpc  e\tbool\n").size(), 2u);
  EXPECT_EQ(told(std::string(161, 'x') + "\tbool\n"), Sentences{});
  EXPECT_EQ(told("Player.Fighter.slot\tstruct Sword delta\n"),
            Sentences{"Player.Fighter.slot: client struct Sword delta, server struct Slot delta"});
  EXPECT_EQ(told("\n\n\tno.such\n\tPlayer.Fighter\n"),
            Sentences{"client and server declare what both have in another order"});
  EXPECT_EQ(told("Player.Fighter.health\t" + std::string(400, 'y') + "\n")[0].size(), 23 + 7 + 1 + 23u);
}

TEST(SchemaDifference, AnyBytesAreATextAndWhatIsShownIsPrintable) {
  base::Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string theirs = kOurs;
    for (uint64_t i = random.next_below(20); i > 0; --i) {
      theirs[static_cast<size_t>(random.next_below(theirs.size()))] = static_cast<char>(random.next_u64());
    }
    for (const std::string& sentence : sentences(theirs)) {
      for (const char c : sentence) EXPECT_TRUE(c >= ' ' && c <= '~') << sentence;
      EXPECT_LT(sentence.size(), 1500u);
    }
  }
  // Deep, and with long names: no more than a few lines of it are kept.
  EXPECT_TRUE(schema_differences("", std::string(60'000, ' ') + "member x bool\n", Extent::kFront).empty());
  EXPECT_TRUE(schema_differences("", "type 1 " + std::string(60'000, 'x') + "\n", Extent::kFront).empty());
  EXPECT_LT(schema_differences("", "type 1 X " + std::string(60'000, 'x'))[0].theirs.size(), 200u);
}

}  // namespace
}  // namespace lattice::serialization
