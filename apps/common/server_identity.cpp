#include "server_identity.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "key_file.h"

namespace app {
namespace {

constexpr KeyAdvice kAdvice = {"make one with 'lattice-tool server-key'.",
                               "With another identity it is another server: clients need new tokens."};

}  // namespace

std::string identity_path(const std::string& data_dir) {
  return data_dir + "/server.key";
}

std::string load_identity(const std::string& path, ServerIdentity& out) {
  return load_key_file(path, kAdvice, out.bytes());
}

std::string load_or_make_identity(const std::string& path, ServerIdentity& out) {
  if (access(path.c_str(), F_OK) == 0) return load_identity(path, out);
  if (lattice_server_identity_generate(out.data()) != LATTICE_OK) {
    return std::string("Cannot make an identity: ") + lattice_last_error();
  }
  switch (make_key_file(path, out.bytes())) {
    case KeyFileMade::kMade:
      return "";
    case KeyFileMade::kExists:
      return load_identity(path, out);
    case KeyFileMade::kFailed:
      break;
  }
  return "Cannot write " + path + ": " + std::strerror(errno) +
         ". Choose another place, or correct its permissions.";
}

std::string find_identity(const std::string& file, const std::string& data_dir,
                          std::optional<ServerIdentity>& out) {
  const std::string path = file.empty() ? identity_path(data_dir) : file;
  if (file.empty() && access(path.c_str(), F_OK) != 0) return "";
  return load_identity(path, out.emplace());
}

}  // namespace app
