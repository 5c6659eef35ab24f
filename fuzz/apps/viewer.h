// What the targets about a viewer's messages share.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "depot-demo/watch.h"

namespace app::fuzz {

// The page's server reads no longer message (web_server.cpp), and a child no longer line.
inline constexpr size_t kMessageBytes = 4096;

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Parses a message of a viewer and checks the command that comes of it. A child reads lines, so a line break
/// inside a command would be a second command.
inline bool take_viewer_command(std::string_view text, ViewerCommand* command) {
  if (!parse_viewer_command(text, *command)) return false;
  require(command->client < kWatchedClients);
  require(command->line.find_first_of(std::string_view("\n\0", 2)) == std::string::npos);
  require(command->arguments.find_first_of(std::string_view("\n\0", 2)) == std::string::npos);
  return true;
}

}  // namespace app::fuzz
