// The schema text that a server tells a client that it refuses: any bytes, compared with a text of our own.
//
// Must hold: what is said is printable and bounded; a text does not differ from itself; of the front of a
// text no more is said than of the whole.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view theirs(reinterpret_cast<const char*>(data), size);
  const size_t whole = say(kOurs, theirs, Extent::kWhole);
  const size_t front = say(kOurs, theirs, Extent::kFront);
  require(front <= whole || !theirs.ends_with('\n'));  // a last line that is cut may take an earlier one back
  require((whole == 0) == (theirs == kOurs));
  say(theirs, kOurs, Extent::kWhole);
  return 0;
}
