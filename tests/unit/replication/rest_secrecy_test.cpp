// The rest of an object (D-17) tells a client nothing of members that it does not get: two authorities whose
// objects differ in a hidden member only send it the same bytes at the same time.
#include <functional>
#include <utility>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test::rest_secrecy_test {
namespace {

struct Gun {
  float position[3] = {};
  float velocity[3] = {};
  int32_t charge = 0;  // goes on in a line
  int32_t plain = 0;
};

constexpr uint64_t kOwner = 10, kOther = 11;
using Datagrams = std::vector<std::vector<uint8_t>>;

serialization::Layout gun_layout() {
  constexpr uint32_t kHidden = LATTICE_MEMBER_OWNER_ONLY;
  std::vector<lattice_member_desc> members = {
      vector3("position", offsetof(Gun, position), 100, 0.01, LATTICE_MEMBER_POSITION),
      vector3("velocity", offsetof(Gun, velocity), 50, 0.01, LATTICE_MEMBER_VELOCITY | kHidden),
      member("charge", LATTICE_WIRE_INT32, offsetof(Gun, charge)),
      member("plain", LATTICE_WIRE_INT32, offsetof(Gun, plain))};
  members[2].flags = LATTICE_MEMBER_EXTRAPOLATE | kHidden;
  members[3].flags = kHidden;
  return layout_of_members<Gun>("Gun", members);
}

/// What `peer` gets of a gun that `change` changes: it joins at step `joins_at`, and its receipts come
/// `ack_delay` steps later.
Datagrams heard_by(uint64_t peer, const std::function<void(Gun&, int)>& change, int joins_at, int ack_delay) {
  const serialization::Layout layout = gun_layout();
  TypeTable table;
  const ObjectType& type = *table.add(50, layout);
  const Types types;
  Authority authority(types);
  ReplicaList recipient(ReplicaList::Config{.peer_id = peer});
  const uint32_t slot = authority.spawn(type, kOwner);
  Datagrams out;
  std::vector<std::pair<int, uint32_t>> receipts;
  for (int step = 0; step < 12; ++step) {
    if (step == joins_at) {
      recipient.join(authority.table, authority.store);
      authority.recipients.push_back(&recipient);
    }
    change(authority.state<Gun>(slot), step);
    authority.record();
    std::vector<uint8_t> bytes;
    if (step >= joins_at) {
      for (const SnapshotPart& part : authority.send(recipient)) {
        bytes.insert(bytes.end(), part.bytes.begin(), part.bytes.end());
        receipts.emplace_back(step + ack_delay, part.receipt);
      }
    }
    std::erase_if(receipts, [&](const auto& due) {
      if (due.first > step) return false;
      recipient.on_receipt(due.second, true);
      return true;
    });
    out.push_back(std::move(bytes));
    authority.tick += 2;
  }
  return out;
}

TEST(RestSecrecy, a_late_joiner_does_not_learn_of_a_hidden_velocity) {
  const auto moving = [](float speed) {
    return [speed](Gun& gun, int step) {
      if (step == 0) gun.velocity[0] = speed, gun.plain = 1;
    };
  };
  EXPECT_EQ(heard_by(kOther, moving(0), 6, 3), heard_by(kOther, moving(5), 6, 3));
  EXPECT_NE(heard_by(kOwner, moving(0), 6, 3), heard_by(kOwner, moving(5), 6, 3));
}

TEST(RestSecrecy, an_observer_does_not_learn_which_hidden_member_changed) {
  const auto plain = [](Gun& gun, int step) {
    if (step == 4) gun.plain = 77;
  };
  const auto charge = [](Gun& gun, int step) {
    if (step == 4) gun.charge = 77;
  };
  EXPECT_EQ(heard_by(kOther, plain, 0, 0), heard_by(kOther, charge, 0, 0));
}

}  // namespace
}  // namespace lattice::replication::test::rest_secrecy_test
