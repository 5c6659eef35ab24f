// Small files of one user that no other user may read or replace: where a key may lie for as long as this
// user is logged in. They stand in one folder, the user's own for as long as the session lasts:
//
//   $XDG_RUNTIME_DIR/lattice, else /run/user/UID/lattice, else /tmp/lattice-UID
//
// The folder must be a real directory of this user with mode 0700. Nobody else can then add, replace or link
// a file in it, so that paths below it may be used by name.
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
  kNotPrivate,  ///< belongs to another user, others may read it, or it is no regular file
  kTooLarge,    ///< the file, for the buffer; or the path, for kPrivatePathBytes
  kIo           ///< the operating system's own reason
};

struct PrivateFileResult {
  PrivateFileError error = PrivateFileError::kNone;
  char text[128] = "";  ///< the operating system's words, or ours
};

/// Writes the path of `name` in the user's folder to `out`, and makes the folder when `make` is true. `name`
/// holds no
/// '/'. The folder is not looked at when `make` is false.
PrivateFileResult private_path(const char* name, bool make, char (&out)[kPrivatePathBytes]);

/// Puts `content` at `path`, mode 0600 from its first byte, in one step: a reader sees the old file or the
/// whole new one. A symbolic link at `path` is replaced, never followed.
PrivateFileResult write_private_file(const char* path, std::span<const uint8_t> content);

/// Reads a whole file of at most out.size() bytes and writes its size to `bytes`. Refused: a symbolic link,
/// anything but a regular file, another user's file, a file whose mode lets group or others in.
PrivateFileResult read_private_file(const char* path, std::span<uint8_t> out, size_t* bytes);

/// Removes the file; one that is already gone is no error.
void remove_private_file(const char* path);

}  // namespace lattice::platform
