// The golden layout once more, as C++20 sees it.
#include "layout.c"  // NOLINT(bugprone-suspicious-include)
