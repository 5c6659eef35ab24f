// A secret key in a file of its own: hexadecimal digits and a newline, mode 0600.
//
// Must stay true: a key file never appears in part and is never replaced, so two processes that make the same
// key at the same time end with one key. No advice of these functions destroys a key: a damaged file may be
// all that is left of an identity, and somebody may still repair it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace app {

/// What the errors about a key advise.
struct KeyAdvice {
  const char* make;  ///< A sentence: how to make the key.
  const char* cost;  ///< A sentence: what another key costs.
};

/// Reads a key of out.size() bytes. Returns "", or a text that says what is wrong and what to do. Refused: a
/// file that group or others may access or that another user owns, anything but a regular file, a key of
/// zeros.
std::string load_key_file(const std::string& path, const KeyAdvice& advice, std::span<uint8_t> out);

/// Returns "", or what is wrong with a file of secrets: it cannot be read, others may read it, it is none.
std::string check_private_file(const std::string& path);

enum class KeyFileMade : uint8_t {
  kMade,
  kExists,  ///< There is a file already, perhaps of a process that started at the same time. Read it.
  kFailed,  ///< errno says why.
};
/// Makes the file in one step.
KeyFileMade make_key_file(const std::string& path, std::span<const uint8_t> key);

}  // namespace app
