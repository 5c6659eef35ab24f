#include "server_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process.h"
#include "text_codec.h"

namespace app {

std::string identity_path(const std::string& data_dir) {
  return data_dir + "/server.key";
}

std::string load_identity(const std::string& path, ServerIdentity& out) {
  struct stat status {};
  std::string text;
  if (stat(path.c_str(), &status) != 0 || !read_whole_file(path, text)) {
    return "Cannot read " + path + ": " + std::strerror(errno) + ". './lattice token server-key' makes one.";
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return path + " holds a secret that other users may read. Run 'chmod 600 " + path +
           "', and make a new one if " + "anybody did.";
  }
  if (text.ends_with('\n')) text.pop_back();
  if (!from_hex(text, out)) {
    return path +
           " does not hold 128 hexadecimal digits. Remove it and make a new one; clients then need new "
           "tokens.";
  }
  return "";
}

std::string load_or_make_identity(const std::string& path, ServerIdentity& out) {
  if (access(path.c_str(), F_OK) == 0) return load_identity(path, out);
  if (lattice_server_identity_generate(out.data()) != LATTICE_OK) {
    return std::string("Cannot make an identity: ") + lattice_last_error();
  }
  if (write_whole_file(path, to_hex(out) + "\n", 0600)) return "";
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
