// What is different in two schemas, member by member, from their canonical texts (D-30, D-31).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lattice::serialization {

struct SchemaDifference {
  std::string path;  ///< "type.behaviour.member"; empty: what both have is in another order
  /// What it is on this side, such as "uint16 bits 10 flags 0"; of an order, from where on.
  std::string ours;
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
/// bits 12". Of a server, whose `ours` is the server's: the same sentence.
std::string describe_to_client(const SchemaDifference& difference);
std::string describe_to_server(const SchemaDifference& difference);

/// What a client tells its server, as many whole lines as fit `max_bytes` (S-47):
///
///     path TAB description    a member that the client has: another one, or one that the server lacks
///     path                    what only the server has
///     [TAB path]              what both have is in another order, from `path` on
std::string told_lines(const std::vector<SchemaDifference>& differences, size_t max_bytes);

/// Most differences that are read of what one client tells.
inline constexpr size_t kMaxDifferencesTold = 16;

/// What the server, whose schema text is `ours`, makes of such lines; their bytes may be any. The server's
/// half comes from `ours`. Lines without a difference are left out, and so are those that name nothing which
/// could be a member. The result holds printable ASCII only.
std::vector<SchemaDifference> differences_told(std::string_view ours, std::string_view lines);

}  // namespace lattice::serialization
