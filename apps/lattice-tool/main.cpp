// lattice-tool: makes connect tokens and keys by hand.
#include <cstdio>
#include <string>

#include "dev_issuer.h"
#include "exit_code.h"
#include "process.h"
#include "server_identity.h"
#include "settings.h"
#include "suggest.h"
#include "text_codec.h"

namespace app {
namespace {

constexpr SettingSpec kIssueSettings[] = {
    {"data_dir", SettingKind::kText, "DIR", "lattice-data",
     "has issuer.key, and server.json of a running server"},
    {"client_key", SettingKind::kText, "HEX", "", "the bearer's public key; required", 0, 0,
     SettingScope::kCommandLine},
    {"server_key", SettingKind::kText, "HEX", "", "the server's public key [server.json]", 0, 0,
     SettingScope::kCommandLine},
    {"player", SettingKind::kText, "HEX", "", "32 digits: a pseudonym, readable on the wire [zero]", 0, 0,
     SettingScope::kCommandLine},
    {"session", SettingKind::kText, "HEX", "", "32 digits [zero]", 0, 0, SettingScope::kCommandLine},
    {"user_data", SettingKind::kText, "TEXT", "", "given to the server with the connection", 0, 0,
     SettingScope::kCommandLine},
    {"schema", SettingKind::kText, "ID", "", "refuse another schema before connecting [server.json]", 0, 0,
     SettingScope::kCommandLine},
    {"ttl", SettingKind::kInteger, "S", "300", "seconds it may be used", 1, 3600, SettingScope::kCommandLine},
};
constexpr ProgramSpec kIssue = {
    .name = "lattice-tool issue",
    .summary = "Signs a connect token and prints it in base64.",
    .usage = "lattice-tool issue --client-key HEX [options]",
    .examples =
        "  lattice-tool issue --data-dir lattice-data --client-key 5f0c...e1\n"
        "  depot-client --token-command 'lattice-tool issue --client-key {client_key}'\n",
    .notes = "",
    .settings = kIssueSettings,
    .has_config_file = false,
};

constexpr SettingSpec kKeysSettings[] = {
    {"data_dir", SettingKind::kText, "DIR", "lattice-data", "where issuer.key is, or is to be made"},
};
constexpr ProgramSpec kKeys = {
    .name = "lattice-tool keys",
    .summary = "Prints the issuer's public key, making the key pair first when there is none.",
    .usage = "lattice-tool keys [options]",
    .examples = "  lattice-tool keys --data-dir lattice-data\n",
    .notes = "",
    .settings = kKeysSettings,
    .has_config_file = false,
};

constexpr SettingSpec kServerKeySettings[] = {
    {"data_dir", SettingKind::kText, "DIR", "lattice-data", "where server.key is, or is to be made"},
    {"file", SettingKind::kText, "FILE", "", "the identity, at another place", 0, 0,
     SettingScope::kCommandLine},
};
constexpr ProgramSpec kServerKey = {
    .name = "lattice-tool server-key",
    .summary = "Prints a server's public key, making its identity first when there is none.",
    .usage = "lattice-tool server-key [options]",
    .examples =
        "  lattice-tool server-key --data-dir lattice-data\n"
        "  lattice-tool server-key --file /etc/depot/server.key\n",
    .notes =
        "A server that starts with an identity keeps its public key, so that tokens made after its restart "
        "need not\n"
        "learn a new one. The file is secret; one identity is for one running server.\n",
    .settings = kServerKeySettings,
    .has_config_file = false,
};

int fail(const std::string& sentence, int code = kExitFailed) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return code;
}

/// Parses an optional setting of hexadecimal digits. On failure prints what is wrong and returns false.
bool take_hex(const Settings& settings, const char* key, std::span<uint8_t> out) {
  const std::string& text = settings.text(key);
  if (text.empty() || from_hex(text, out)) return true;
  usage_error(kIssue,
              std::string(key) + " needs exactly " + std::to_string(out.size() * 2) + " hexadecimal digits.");
  return false;
}

int issue(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kIssue, argc, argv)) return *exit;
  if (settings.text("client_key").empty()) {
    return usage_error(kIssue, "--client-key is missing; the client prints it with --token-stdin.");
  }
  lattice_token_request request{};
  lattice_token_request_init(&request);
  request.lifetime_s = static_cast<uint32_t>(settings.integer("ttl"));
  if (!take_hex(settings, "client_key", request.client_public_key) ||
      !take_hex(settings, "server_key", request.server_public_key) ||
      !take_hex(settings, "player", request.player) || !take_hex(settings, "session", request.session)) {
    return kExitUsage;
  }
  const std::string& user_data = settings.text("user_data");
  if (user_data.size() > LATTICE_TOKEN_USER_DATA_MAX_BYTES) {
    return usage_error(kIssue, "user_data holds at most 256 bytes.");
  }
  request.user_data = reinterpret_cast<const uint8_t*>(user_data.data());
  request.user_data_bytes = static_cast<uint32_t>(user_data.size());

  const std::string& data_dir = settings.text("data_dir");
  if (settings.text("server_key").empty()) {
    ServerNote server;
    if (const std::string problem = read_server_note(data_dir, server); !problem.empty()) {
      return fail(problem + " Or give --server-key.", kExitUnreachable);
    }
    std::copy(server.server_public_key.begin(), server.server_public_key.end(), request.server_public_key);
    request.schema_id = server.schema_id;
  }
  if (const std::string& schema = settings.text("schema"); !schema.empty()) {
    char* end = nullptr;
    request.schema_id = std::strtoull(schema.c_str(), &end, 10);
    if (*end != 0) return usage_error(kIssue, "schema needs a whole number, as server.json has it.");
  }
  IssuerKeys issuer;
  if (const std::string problem = load_issuer(data_dir, issuer); !problem.empty()) return fail(problem);
  uint8_t bytes[LATTICE_TOKEN_MAX_BYTES];
  size_t size = 0;
  if (lattice_token_issue(issuer.seed.data(), &request, bytes, sizeof bytes, &size) != LATTICE_OK) {
    return fail(lattice_last_error());
  }
  std::printf("%s\n", to_base64({bytes, size}).c_str());
  return kExitOk;
}

int keys(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kKeys, argc, argv)) return *exit;
  IssuerKeys issuer;
  if (const std::string problem = load_or_make_issuer(settings.text("data_dir"), issuer); !problem.empty()) {
    return fail(problem, kExitPort);
  }
  std::printf("%s\n", to_hex(issuer.public_key).c_str());
  return kExitOk;
}

int server_key(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kServerKey, argc, argv)) return *exit;
  std::string path = settings.text("file");
  if (path.empty()) {
    const std::string& data_dir = settings.text("data_dir");
    if (!make_folder(data_dir))
      return fail("Cannot make the folder " + data_dir + ". Choose another one.", kExitPort);
    path = identity_path(data_dir);
  }
  ServerIdentity identity;
  if (const std::string problem = load_or_make_identity(path, identity); !problem.empty()) {
    return fail(problem, kExitPort);
  }
  Key public_key{};
  if (lattice_server_identity_public_key(identity.data(), public_key.data()) != LATTICE_OK) {
    return fail(lattice_last_error());
  }
  std::printf("%s\n", to_hex(public_key).c_str());
  return kExitOk;
}

constexpr const char* kHelp =
    "Connect tokens and keys by hand.\n\n"
    "Usage: lattice-tool COMMAND [options]\n\n"
    "Commands:\n"
    "  issue       sign a connect token and print it in base64\n"
    "  keys        print the issuer's public key, making the key pair first when there is none\n"
    "  server-key  print a server's public key, making its identity first when there is none\n\n"
    "lattice-tool COMMAND --help says more.\n";

int run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "--help";
  if (command == "issue") return issue(argc - 1, argv + 1);
  if (command == "keys") return keys(argc - 1, argv + 1);
  if (command == "server-key") return server_key(argc - 1, argv + 1);
  if (command == "--version") {
    std::printf("lattice-tool %s (ABI %u)\n", lattice_version(), lattice_abi_version());
    return kExitOk;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kHelp, argc > 1 ? stdout : stderr);
    return argc > 1 ? kExitOk : kExitUsage;
  }
  constexpr std::string_view kCommands[] = {"issue", "keys", "server-key", "--help", "--version"};
  std::fprintf(stderr, "lattice-tool: unknown command '%s'.%s Run 'lattice-tool --help'.\n", command.c_str(),
               did_you_mean(command, kCommands).c_str());
  return kExitUsage;
}

}  // namespace
}  // namespace app

int main(int argc, char** argv) {
  app::open_standard_descriptors();
  return app::run(argc, argv);
}
