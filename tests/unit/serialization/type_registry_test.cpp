// The registry: refusals that name field, value and bound; the canonical text and its hash.
#include "serialization/type_registry.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

constexpr std::string_view kChannels =
    "0 unreliable\n1 unreliable_sequenced\n2 reliable_unordered\n3 reliable_ordered\n";

// clang-format off
enum class Team { kRed, kBlue };
LATTICE_ENUM(Team, kRed, kBlue)
LATTICE_NETWORKED(PawnState,
  (position, vec3, BOUNDS(-4096, 4096, 0.001), POSITION),
  (rotation, quat, SMALLEST_THREE(10), ROTATION),
  (velocity, vec3, BOUNDS(-256, 256, 0.01f), VELOCITY),
  (health, uint16, BITS(10)), (team, Team), (name, string, STRING(16)))
LATTICE_NETWORKED(DoorState, (open, bool), (angle, float), (owner, netid))
LATTICE_NETWORKED(Fire, (aim, vec2, BOUNDS(-1, 1, 0.001)), (charge, int32, RANGED(0, 1023)))
LATTICE_NETWORKED(Command, (move, vec2, BOUNDS(-1, 1, 1.0 / 127)), (jump, bool))
// clang-format on

// clang-format off
struct A { LATTICE_NETSTRUCT(A, (x, float, BOUNDS(-512, 512, 0.01f))) };
struct B { LATTICE_NETSTRUCT(B, (x, float, BOUNDS(-512, 512, 0.01))) };
// clang-format on

constexpr lattice_behaviour_desc kPawn[] = {behaviour_desc<PawnState>()};
constexpr lattice_behaviour_desc kDoor[] = {behaviour_desc<DoorState>()};
constexpr lattice_rpc_desc kPawnRpcs[] = {
    rpc_desc(9, "reload", LATTICE_RPC_TO_SERVER, LATTICE_CHANNEL_RELIABLE_UNORDERED, true),
    rpc_desc<Fire>(2, "fire", LATTICE_RPC_TO_SERVER)};

void add(TypeRegistry& registry, const lattice_type_desc& desc) {
  std::string error;
  EXPECT_TRUE(registry.add_type(desc, &error)) << error;
}

void fill(TypeRegistry& registry, bool reversed) {
  const lattice_type_desc pawn = type_desc("Pawn", kPawn, kPawnRpcs, LATTICE_TYPE_PREDICTED);
  const lattice_type_desc door = type_desc("Door", kDoor);
  add(registry, reversed ? door : pawn);
  add(registry, reversed ? pawn : door);
  std::string error;
  EXPECT_TRUE(registry.set_input(input_desc<Command>(), &error)) << error;
}

TEST(TypeRegistry, CanonicalTextAndHash) {
  TypeRegistry registry;
  fill(registry, false);
  EXPECT_EQ(registry.canonical_text(kChannels), R"(lattice schema 1
wire 1.0
channels
0 unreliable
1 unreliable_sequenced
2 reliable_unordered
3 reliable_ordered
type 2295680585 Door object
behaviour DoorState
 member open bool flags 0
 member angle float full 32 flags 0
 member owner netid varint 64 flags 0
type 3479468459 Pawn object
behaviour PawnState
 member position vector3 compressed 23 -4096 4096 8192000 compressed 23 -4096 4096 8192000 compressed 23 -4096 4096 8192000 flags 1
 member rotation quaternion smallest_three 32 flags 8
 member velocity vector3 compressed 16 -256 256 51200 compressed 16 -256 256 51200 compressed 16 -256 256 51200 flags 2
 member health uint16 bits 10 flags 0
 member team enum ordinal 1 2 flags 0
 member name string capacity 16 flags 0
 rpc 2 fire channel 3 target 0 owner_only 0 delivery 0
behaviour Fire
 member aim vector2 compressed 11 -1 1 2000 compressed 11 -1 1 2000 flags 0
 member charge int32 ranged 10 0 1023 flags 0
 rpc 9 reload channel 2 target 0 owner_only 1 delivery 0
input Command
behaviour Command
 member move vector2 compressed 8 -1 1 254 compressed 8 -1 1 254 flags 0
 member jump bool flags 0
)");
  EXPECT_EQ(registry.schema_hash(kChannels), 0x9C79EC19926FD748u);
}

TEST(TypeRegistry, OrderOfRegistrationDoesNotMatter) {
  TypeRegistry a, b;
  fill(a, false);
  fill(b, true);
  EXPECT_EQ(a.canonical_text(kChannels), b.canonical_text(kChannels));
  EXPECT_EQ(a.schema_hash(kChannels), b.schema_hash(kChannels));
}

TEST(TypeRegistry, PrecisionAsFloatOrDoubleIsTheSameSchema) {
  const std::string a = test::layout_of(struct_desc<A>()).canonical_members();
  const std::string b = test::layout_of(struct_desc<B>()).canonical_members();
  EXPECT_EQ(a.substr(a.find('\n')), b.substr(b.find('\n')));
}

TEST(TypeRegistry, EveryPartOfADeclarationChangesTheHash) {
  TypeRegistry reference;
  fill(reference, false);
  const uint64_t hash = reference.schema_hash(kChannels);
  EXPECT_NE(hash, reference.schema_hash("0 other\n"));
  const std::vector<std::function<void(lattice_member_desc&)>> edits = {
      [](lattice_member_desc& m) { m.name = "position2"; },
      [](lattice_member_desc& m) { m.quant[2].min = -4095; },
      [](lattice_member_desc& m) { m.quant[1].max = 4095; },
      [](lattice_member_desc& m) { m.quant[0].precision *= 2; },
      [](lattice_member_desc& m) { m.flags = 0; },
      [](lattice_member_desc& m) { m.encoding = LATTICE_ENCODING_FULL; },
  };
  for (const auto& edit : edits) {
    lattice_member_desc members[6];
    std::copy_n(struct_desc<PawnState>().members, 6, members);
    edit(members[0]);
    lattice_struct_desc structure = struct_desc<PawnState>();
    structure.members = members;
    lattice_behaviour_desc behaviours[] = {behaviour_desc<PawnState>()};
    behaviours[0].structure = &structure;
    behaviours[0].codec = nullptr;  // it is for the members as they were
    TypeRegistry registry;
    add(registry, type_desc("Pawn", behaviours, kPawnRpcs));
    add(registry, type_desc("Door", kDoor));
    std::string error;
    ASSERT_TRUE(registry.set_input(input_desc<Command>(), &error));
    EXPECT_NE(registry.schema_hash(kChannels), hash);
  }
}

TEST(TypeRegistry, FindsTypesAndRpcs) {
  TypeRegistry registry;
  fill(registry, false);
  const TypeInfo* pawn = registry.find(type_id_of_name("Pawn"));
  ASSERT_NE(pawn, nullptr);
  EXPECT_TRUE(pawn->predicted());
  EXPECT_EQ(registry.find(1), nullptr);
  EXPECT_EQ(pawn->find_rpc(1), nullptr);
  const RpcInfo* fire = pawn->find_rpc(2);
  ASSERT_NE(fire, nullptr);
  EXPECT_EQ(fire->argument_bytes, sizeof(Fire));
  EXPECT_FALSE(pawn->find_rpc(9)->has_arguments);
  EXPECT_TRUE(pawn->find_rpc(9)->owner_only);
  EXPECT_EQ(registry.input_host_bytes(), sizeof(Command));
  EXPECT_EQ(type_id_of_name("a"), 0xE40C292Cu);  // FNV-1a32
}

std::string refusal(const lattice_type_desc& desc) {
  TypeRegistry registry;
  add(registry, type_desc("Door", kDoor));
  std::string error;
  EXPECT_FALSE(registry.add_type(desc, &error));
  EXPECT_EQ(registry.type_count(), 1u);
  return error;
}

TEST(TypeRegistry, CollisionsAreRefused) {
  lattice_type_desc desc = type_desc("Gate", kDoor);
  desc.type_id = type_id_of_name("Door");
  EXPECT_EQ(refusal(desc), "type 'Gate': type_id 2295680585 is taken by 'Door'; state another type_id");
  desc = type_desc("Door", kDoor);
  desc.type_id = 5;
  EXPECT_EQ(refusal(desc), "type 'Door': the name is taken");
  EXPECT_EQ(refusal(type_desc("Door", kDoor)), "type 'Door' is registered already");
  const lattice_rpc_desc twice[] = {rpc_desc(1, "a", LATTICE_RPC_TO_SERVER),
                                    rpc_desc(1, "b", LATTICE_RPC_TO_SERVER)};
  EXPECT_EQ(refusal(type_desc("Gate", kDoor, twice)), "type 'Gate', rpc 'b': rpc_id 1 is taken by 'a'");
  const lattice_behaviour_desc same[] = {behaviour_desc<DoorState>(), behaviour_desc<DoorState>()};
  EXPECT_NE(refusal(type_desc("Gate", same)).find("two behaviours"), std::string::npos);
}

TEST(TypeRegistry, BadTypeFieldsAreRefused) {
  lattice_type_desc desc = type_desc("Gate", kDoor);
  desc.base_priority = 0;
  EXPECT_EQ(refusal(desc), "type 'Gate': base_priority is 0; must be above 0 and at most 1000");
  desc = type_desc("Gate", kDoor);
  desc.struct_size = 0;
  EXPECT_NE(refusal(desc).find("struct_size"), std::string::npos);
  desc = type_desc("Gate", kDoor);
  desc.flags = 1u << 30;
  EXPECT_NE(refusal(desc).find("flags"), std::string::npos);
  EXPECT_NE(refusal(type_desc("a b", kDoor)).find("name must be"), std::string::npos);
  desc = type_desc("Gate", kDoor);
  desc.behaviour_count = 17;
  EXPECT_EQ(refusal(desc), "type 'Gate': behaviour_count is 17; must be 1..16");
}

// Refusals of one edited member: "<start of the message>" for each field with a bound.
TEST(TypeRegistry, BadMembersAreRefusedByName) {
  struct Case {
    lattice_wire_type type;
    std::function<void(lattice_member_desc&)> edit;
    const char* message;
  };
  const std::vector<Case> cases = {
      {LATTICE_WIRE_UINT16, [](auto& m) { m.encoding = LATTICE_ENCODING_BITS, m.bits = 17; },
       "bits is 17; must be 1..16"},
      {LATTICE_WIRE_UINT16, [](auto& m) { m.encoding = LATTICE_ENCODING_BITS; }, "bits is 0; must be 1..16"},
      {LATTICE_WIRE_INT16, [](auto& m) { m.encoding = LATTICE_ENCODING_BITS, m.bits = 4; },
       "encoding bits does not fit type int16; fixed or ranged does"},
      {LATTICE_WIRE_INT8, [](auto& m) { m.encoding = LATTICE_ENCODING_RANGED, m.max_value = 128; },
       "range is 0..128; must lie in -128..127"},
      {LATTICE_WIRE_INT8, [](auto& m) { m.encoding = LATTICE_ENCODING_RANGED, m.min_value = 1; },
       "range is 1..0;"},
      {LATTICE_WIRE_INT8, [](auto& m) { m.encoding = LATTICE_ENCODING_VARINT; },
       "encoding varint does not fit"},
      {LATTICE_WIRE_BOOL, [](auto& m) { m.encoding = LATTICE_ENCODING_FIXED; },
       "encoding fixed does not fit"},
      {LATTICE_WIRE_ENUM, [](auto&) {}, "enum_count is 0; must be 1..65536"},
      {LATTICE_WIRE_ENUM, [](auto& m) { m.host_bytes = 3; }, "host_bytes is 3"},
      {LATTICE_WIRE_FLOAT,
       [](auto& m) {
         m.quant[0] = {1, 1, 0.1};
       },
       "bounds are 1..1;"},
      {LATTICE_WIRE_FLOAT,
       [](auto& m) {
         m.quant[0] = {0, 1, 2};
       },
       "precision is 2; must be above 0 and at most 1"},
      {LATTICE_WIRE_FLOAT,
       [](auto& m) {
         m.quant[0] = {-1e6, 1e6, 0.001};
       },
       "precision is 0.001; the host number"},
      {LATTICE_WIRE_DOUBLE,
       [](auto& m) {
         m.quant[0] = {-1e6, 1e6, 1e-12};
       },
       "precision is 1e-12; the host number"},
      {LATTICE_WIRE_QUATERNION, [](auto& m) { m.bits = 3; }, "bits is 3; a rotation takes 4..20"},
      {LATTICE_WIRE_QUATERNION, [](auto& m) { m.bits = 21; }, "bits is 21; a rotation takes 4..20"},
      {LATTICE_WIRE_STRING, [](auto& m) { m.capacity = 65536; }, "has no host size"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.offset = 2045; },
       "offset 2045 plus 4 bytes passes the structure's 2048"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.offset = UINT32_MAX; }, "offset 4294967295 plus"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.host_bytes = 8; }, "host_bytes is 8; its type takes 4"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.flags = LATTICE_MEMBER_POSITION; }, "a motion flag needs"},
      {LATTICE_WIRE_FLOAT, [](auto& m) { m.flags = LATTICE_MEMBER_TELEPORT; }, "flag TELEPORT needs"},
      {LATTICE_WIRE_FLOAT, [](auto& m) { m.flags = 1u << 31; }, "flags is 2147483648;"},
      {LATTICE_WIRE_VECTOR3, [](auto& m) { m.flags = LATTICE_MEMBER_POSITION | LATTICE_MEMBER_VELOCITY; },
       "flags name two"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.name = "9lives"; }, "name must be"},
      {LATTICE_WIRE_INT32, [](auto& m) { m.name = nullptr; }, "name must be"},
      {LATTICE_WIRE_STRUCT, [](auto&) {}, "has no host size"},
      {LATTICE_WIRE_CUSTOM, [](auto&) {}, "has no host size"},
      {static_cast<lattice_wire_type>(27), [](auto&) {}, "has no host size: type 27"},
  };
  for (const Case& c : cases) {
    lattice_member_desc member;
    lattice_member_desc_init(&member);
    member.name = "m";
    member.type = c.type;
    c.edit(member);
    lattice_struct_desc structure;
    lattice_struct_desc_init(&structure);
    structure.name = "S";
    structure.host_bytes = 2048;
    structure.host_align = 8;
    structure.members = &member;
    structure.member_count = 1;
    Layout layout;
    std::string error;
    EXPECT_FALSE(Layout::compile_structure(structure, false, &layout, &error)) << c.message;
    EXPECT_NE(error.find(c.message), std::string::npos) << error;
    EXPECT_EQ(error.find("structure 'S', member '"), 0u) << error;
    EXPECT_EQ(layout.word_count(), 0u);
  }
}

// A refused encoding names those that the type takes: exactly these register.
TEST(TypeRegistry, ARefusedEncodingNamesThoseThatFit) {
  constexpr const char* kEncodings[] = {"default",    "fixed", "varint",         "ranged", "bits",
                                        "compressed", "full",  "smallest_three", "half"};
  for (int type = LATTICE_WIRE_BOOL; type <= LATTICE_WIRE_DVECTOR4; ++type) {
    if (type >= LATTICE_WIRE_STRING && type <= LATTICE_WIRE_BYTES) continue;
    if (type == LATTICE_WIRE_STRUCT || type == LATTICE_WIRE_CUSTOM) continue;
    std::set<std::string> taken, named;
    for (size_t encoding = 1; encoding < std::size(kEncodings); ++encoding) {
      lattice_member_desc member;
      lattice_member_desc_init(&member);
      member.name = "m";
      member.type = static_cast<lattice_wire_type>(type);
      member.encoding = static_cast<lattice_encoding>(encoding);
      member.bits = 8, member.enum_count = 3, member.host_bytes = type == LATTICE_WIRE_ENUM ? 1 : 0;
      member.min_value = 0, member.max_value = 2;
      for (lattice_quant& quant : member.quant) quant = {0, 1, 0.1};
      lattice_struct_desc structure;
      lattice_struct_desc_init(&structure);
      structure.name = "S", structure.host_bytes = 64, structure.host_align = 8;
      structure.members = &member, structure.member_count = 1;
      Layout layout;
      std::string error;
      if (Layout::compile_structure(structure, false, &layout, &error)) {
        taken.insert(kEncodings[encoding]);
        continue;
      }
      ASSERT_NE(error.find("encoding " + std::string(kEncodings[encoding]) + " does not fit type "),
                std::string::npos)
          << error;
      std::string fitting = error.substr(error.find(';') + 2);
      if (fitting == "it has only its own") continue;
      for (size_t at = 0; (at = fitting.find_first_of(", ")) != std::string::npos;) {
        if (const std::string word = fitting.substr(0, at); !word.empty() && word != "or") named.insert(word);
        fitting.erase(0, at + 1);
      }
      EXPECT_EQ(fitting, "does");
    }
    EXPECT_EQ(named, taken) << "type " << type;
  }
}

TEST(TypeRegistry, NestingAndOverlapAreBounded) {
  lattice_member_desc leaf;
  lattice_member_desc_init(&leaf);
  leaf.name = "leaf";
  leaf.type = LATTICE_WIRE_INT8;
  lattice_struct_desc structures[9];
  lattice_member_desc members[9];
  for (int i = 0; i < 9; ++i) {
    lattice_struct_desc_init(&structures[i]);
    structures[i].name = "S";
    structures[i].host_bytes = 4;
    structures[i].host_align = 1;
    structures[i].member_count = 1;
    lattice_member_desc_init(&members[i]);
    members[i].name = "m";
    members[i].type = LATTICE_WIRE_STRUCT;
    members[i].structure = &structures[i];
    structures[i].members = i == 0 ? &leaf : &members[i - 1];
  }
  Layout layout;
  std::string error;
  EXPECT_TRUE(Layout::compile_structure(structures[7], false, &layout, &error)) << error;
  EXPECT_FALSE(Layout::compile_structure(structures[8], false, &layout, &error));
  EXPECT_NE(error.find("nested deeper than 8"), std::string::npos);

  lattice_member_desc pair[2] = {leaf, leaf};
  pair[1].name = "other";
  structures[0].members = pair;
  structures[0].member_count = 2;
  EXPECT_FALSE(Layout::compile_structure(structures[0], false, &layout, &error));
  EXPECT_NE(error.find("members 'leaf' and 'other' overlap"), std::string::npos);
  pair[1].offset = 1;
  pair[1].name = "leaf";
  EXPECT_FALSE(Layout::compile_structure(structures[0], false, &layout, &error));
  EXPECT_NE(error.find("two members are named 'leaf'"), std::string::npos);
}

TEST(TypeRegistry, TooManyMembersAreRefused) {
  std::vector<lattice_member_desc> members(257);
  std::vector<std::string> names(257);
  for (size_t i = 0; i < members.size(); ++i) {
    lattice_member_desc_init(&members[i]);
    names[i].append("m").append(std::to_string(i));
    members[i].name = names[i].c_str();
    members[i].type = LATTICE_WIRE_INT8;
    members[i].offset = static_cast<uint32_t>(i);
  }
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "S";
  structure.host_bytes = 512;
  structure.host_align = 1;
  structure.members = members.data();
  structure.member_count = 256;
  Layout layout;
  std::string error;
  EXPECT_TRUE(Layout::compile_structure(structure, false, &layout, &error)) << error;
  structure.member_count = 257;
  EXPECT_FALSE(Layout::compile_structure(structure, false, &layout, &error));
  EXPECT_EQ(error, "structure 'S': member_count is 257; must be 1..256");
}

TEST(TypeRegistry, OneInputOnly) {
  TypeRegistry registry;
  std::string error;
  EXPECT_EQ(registry.input(), nullptr);
  EXPECT_TRUE(registry.set_input(input_desc<Command>(), &error));
  EXPECT_FALSE(registry.set_input(input_desc<Command>(), &error));
  EXPECT_EQ(error, "input: one is registered already");
}

}  // namespace
}  // namespace lattice::serialization
