// Small files of one user that no other user may read or replace. They can hold a key while this user is
// logged in. They are in one folder of the user, which lives as long as the user's session:
//
//   $XDG_RUNTIME_DIR/lattice, else /run/user/UID/lattice, else /tmp/lattice-UID
//
// The folder must be a real directory of this user with mode 0700. Then no other user can add, replace or
// link a file in it, so that paths below it may be used by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lattice::platform {

/// Longest path these functions take or write, with its terminating zero.
inline constexpr size_t kPrivatePathBytes = 256;

enum class PrivateFileError : uint8_t {
  kNone,
  kNotFound,
  kNotPrivate,  ///< belongs to another user, other users may read it, or it is not a regular file
  kTooLarge,    ///< the file is too large for the buffer, or the path for kPrivatePathBytes
  kIo           ///< another error of the operating system
};

struct PrivateFileResult {
  PrivateFileError error = PrivateFileError::kNone;
  char text[128] = "";  ///< a text of the operating system, or of this library
};

/// Writes the path of `name` in the user's folder to `out`. `name` must not contain '/'. If `make` is true, makes
/// the folder. kNotPrivate when the folder is a link, belongs to another user, or is open to others.
PrivateFileResult private_path(const char* name, bool make, char (&out)[kPrivatePathBytes]);

/// Replaces the file at `path` by `content` in one step, with mode 0600 from its first byte: a reader sees
/// the old file or the whole new file. A symbolic link at `path` is replaced, never followed.
PrivateFileResult write_private_file(const char* path, std::span<const uint8_t> content);

/// Reads a whole file of at most out.size() bytes and writes its size to `bytes`. Refused: a symbolic link,
/// anything but a regular file, another user's file, a file whose mode gives access to group or others.
PrivateFileResult read_private_file(const char* path, std::span<uint8_t> out, size_t* bytes);

/// Removes the file. A missing file is not an error.
void remove_private_file(const char* path);

}  // namespace lattice::platform
