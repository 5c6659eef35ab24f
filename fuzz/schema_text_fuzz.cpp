// The schema text that a server tells a client that it refuses: any bytes, compared with a text of our own.
//
// And the lines that a client tells of its schema: any bytes, read by a server with a text of its own.
//
// Must hold: what is said is printable and bounded; a text does not differ from itself; of the front of a
// text no more is said than of the whole; what a client tells fits its message.
#include <cstdlib>
#include <string>
#include <string_view>

#include "serialization/schema_difference.h"

namespace {

using namespace lattice::serialization;

constexpr std::string_view kOurs =
    "lattice schema 1\nwire 1.0\nchannels\nchannel 0 unreliable\ntype 3 Player object\nbehaviour Fighter\n"
    " member health uint16 bits 10 flags 0\n member slot struct Slot delta\n  member id uint8 fixed 8 flags "
    "0\n"
    " rpc 1 fire channel 2 target 0 owner_only 1 delivery 0\nbehaviour Fire\n member at tick varint 32 flags "
    "0\n"
    "input Command\nbehaviour Command\n member jump bool flags 0\n";

void require(bool condition) {
  if (!condition) std::abort();
}

size_t say(std::string_view ours, std::string_view theirs, Extent extent) {
  const auto differences = schema_differences(ours, theirs, extent);
  for (const SchemaDifference& difference : differences) {
    const std::string sentence = describe_to_client(difference);
    require(!sentence.empty() && sentence.size() < 4096);
    for (const char c : sentence) require(c >= ' ' && c <= '~');
  }
  return differences.size();
}

void require_shown(const std::string& sentence) {
  require(!sentence.empty() && sentence.size() < 1024);
  for (const char c : sentence) require(c >= ' ' && c <= '~');
}

void tell(std::string_view lines) {
  const auto told = differences_told(kOurs, lines);
  require(told.size() <= kMaxDifferencesTold);
  for (const SchemaDifference& difference : told) require_shown(describe_to_server(difference));
}

/// A client with the schema `theirs` is refused by a server with ours.
void tell_of(std::string_view theirs) {
  const auto found = schema_differences(theirs, kOurs);
  const std::string lines = told_lines(found, 512);
  require(lines.size() <= 512 && (lines.empty() || lines.back() == '\n'));
  for (const char c : lines) require((c >= ' ' && c <= '~') || c == '\t' || c == '\n');
  tell(lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view theirs(reinterpret_cast<const char*>(data), size);
  const size_t whole = say(kOurs, theirs, Extent::kWhole);
  const size_t front = say(kOurs, theirs, Extent::kFront);
  require(front <= whole || !theirs.ends_with('\n'));  // a last line that is cut may take an earlier one back
  require((whole == 0) == (theirs == kOurs));
  say(theirs, kOurs, Extent::kWhole);
  tell(theirs);
  tell_of(theirs);
  return 0;
}
