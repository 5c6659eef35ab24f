// hello.c as C++20, and a networked structure of the C++ headers.
#include <lattice/authoring/networked.h>
#include <lattice/lattice.hpp>

namespace {

struct Greeting {
  LATTICE_NETSTRUCT(Greeting, (times, int32, RANGED(0, 7)), (loud, bool))
};
static_assert(std::is_trivially_copyable_v<Greeting>);

}  // namespace

#include "hello.c"  // NOLINT(bugprone-suspicious-include)
