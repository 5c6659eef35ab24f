#include "dev_issuer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include "json_number.h"
#include "key_file.h"
#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

constexpr size_t kMostNoteBytes = 65536;

constexpr KeyAdvice kAdvice = {"start lattice-gameserver with this --data-dir once: it makes one.",
                               "Servers that know only the old issuer refuse tokens of another."};

std::string cannot(const std::string& what, const std::string& path) {
  return "Cannot " + what + " " + path + ": " + std::strerror(errno) +
         ". Choose another folder with --data-dir, or correct its permissions.";
}

}  // namespace

std::string load_issuer(const std::string& data_dir, IssuerKeys& out) {
  const std::string problem = load_key_file(data_dir + "/issuer.key", kAdvice, out.seed.bytes());
  if (!problem.empty()) return problem;
  if (lattice_issuer_public_key(out.seed.data(), out.public_key.data()) == LATTICE_OK) return "";
  return std::string("Cannot use the issuer key: ") + lattice_last_error();
}

std::string load_or_make_issuer(const std::string& data_dir, IssuerKeys& out) {
  if (!make_folder(data_dir)) return cannot("make the folder", data_dir);
  const std::string path = data_dir + "/issuer.key";
  if (access(path.c_str(), F_OK) != 0) {
    if (lattice_issuer_generate(out.seed.data(), out.public_key.data()) != LATTICE_OK) {
      return std::string("Cannot make an issuer key: ") + lattice_last_error();
    }
    if (make_key_file(path, out.seed.bytes()) == KeyFileMade::kFailed) return cannot("write", path);
  }
  // Always the key of the file: another process may have made it first.
  if (std::string problem = load_issuer(data_dir, out); !problem.empty()) return problem;
  const std::string public_path = data_dir + "/issuer.pub";
  if (access(public_path.c_str(), F_OK) == 0) return "";
  return write_whole_file(public_path, to_hex(out.public_key) + "\n", 0644) ? ""
                                                                            : cannot("write", public_path);
}

std::string write_server_note(const std::string& data_dir, const ServerNote& note) {
  const nlohmann::json json = {{"address", note.address},
                               {"server_public_key", to_hex(note.server_public_key)},
                               {"schema_id", std::to_string(note.schema_id)},
                               {"pid", note.pid},
                               {"admin", note.admin}};
  const std::string path = data_dir + "/server.json";
  return write_whole_file(path, json.dump(2) + "\n", 0644) ? "" : cannot("write", path);
}

std::string read_server_note(const std::string& data_dir, ServerNote& out) {
  const std::string path = data_dir + "/server.json";
  std::string text;
  if (const std::string problem = read_file(path, kMostNoteBytes, text); !problem.empty()) {
    return problem + " Start lattice-gameserver with this --data-dir: it writes one.";
  }
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    out.address = json.at("address").get<std::string>();
    out.schema_id = std::stoull(json.at("schema_id").get<std::string>());
    out.admin = json.value("admin", "");
    out.pid = static_cast<int64_t>(whole_number(json.at("pid"), INT64_MAX));
    if (from_hex(json.at("server_public_key").get<std::string>(), out.server_public_key)) return "";
  } catch (const std::exception&) {
  }
  return path + " is damaged. Restart the server; it writes it anew.";
}

void remove_server_note(const std::string& data_dir) {
  ServerNote note;
  if (read_server_note(data_dir, note).empty() && note.pid == getpid())
    unlink((data_dir + "/server.json").c_str());
}

}  // namespace app
