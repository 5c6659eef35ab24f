// Whether a request was meant for this machine.
#pragma once

#include <string_view>

namespace app {

/// True when an HTTP Host value ("127.0.0.1:8000") names this machine's loopback address. A page of another
/// site that has its own name point here does not: that stops DNS rebinding.
bool is_loopback_host(std::string_view host);

}  // namespace app
