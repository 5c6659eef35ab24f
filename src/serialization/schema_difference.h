// What is different in two schemas, member by member, from their canonical texts (D-30, D-31).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lattice::serialization {

struct SchemaDifference {
  std::string path;    ///< "type.behaviour.member"; empty: everything is there, in another order
  std::string ours;    ///< what it is on this side, such as "uint16 bits 10 flags 0"
  std::string theirs;  ///< the same of the other side
  bool is_ours_only = false;
  bool is_theirs_only = false;
};

/// The differences in the order of `ours`, then what only `theirs` has; of what one side alone has, nothing
/// that is in it. `theirs` may hold any bytes: lines that no canonical text has are left out, and the result
/// holds printable ASCII only. When it is only the `front` of a text, nothing is said of what it lacks, nor
/// of its last line unless that is ended.
enum class Extent : bool { kWhole, kFront };
std::vector<SchemaDifference> schema_differences(std::string_view ours, std::string_view theirs,
                                                 Extent extent = Extent::kWhole);

/// The difference as a sentence of a client: "Player.Fighter.health: client uint16 bits 10, server uint16
/// bits 12".
std::string describe_to_client(const SchemaDifference& difference);

}  // namespace lattice::serialization
