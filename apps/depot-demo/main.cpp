// lattice-demo: a whole Depot session on this machine, and a page to watch it (or, headless, to measure it).
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "browser.h"
#include "cast.h"
#include "exit_code.h"
#include "frame_pacer.h"
#include "impairment_setting.h"
#include "json_writer.h"
#include "lattice/lattice.h"
#include "process.h"
#include "scene_json.h"
#include "settings.h"
#include "verdict.h"
#include "watch.h"
#include "web_server.h"

namespace app {
namespace {

constexpr double kStepM = 1.0 / 512;   // one quantization step of a pawn's position
constexpr uint32_t kSettleTicks = 30;  // 500 ms at 60 Hz, see --help
constexpr uint64_t kWarmUpNs = 3'000'000'000;
constexpr uint32_t kMaxAttempts = 3;
// The page shows each tick as it comes. A headless run only counts.
constexpr uint32_t kPageRateHz = 60;
constexpr uint32_t kHeadlessRateHz = 30;
constexpr uint64_t kConnectNs = 15'000'000'000;
constexpr uint64_t kCrowdNs = 60'000'000'000;

constexpr SettingSpec kSettings[] = {
    {"port", SettingKind::kInteger, "N", "0", "of the page, on 127.0.0.1; 0: any free one", 0, 65535},
    {"bots", SettingKind::kInteger, "N", "8", "bots beside clients A and B", 0, 60},
    {"crowd", SettingKind::kInteger, "N", "0", "further bots all over the hall, in one process", 0, 900},
    {"profile", SettingKind::kText, "PRESET", "demo",
     "impairment of A and B in each direction; 'none': perfect"},
    {"no_open", SettingKind::kSwitch, "", "", "do not open a browser"},
    {"page_dir", SettingKind::kText, "DIR", LATTICE_PAGE_DIR, "the page's files"},
    {"headless", SettingKind::kSwitch, "", "", "no page: play by itself, measure, judge", 0, 0,
     SettingScope::kCommandLine},
    {"seconds", SettingKind::kNumber, "S", "20", "how long a headless run measures", 1, 3600,
     SettingScope::kCommandLine},
    {"json", SettingKind::kSwitch, "", "", "print the headless result as one JSON object", 0, 0,
     SettingScope::kCommandLine},
    {"capture", SettingKind::kText, "FILE", "",
     "the server writes its datagrams, decrypted, as pcapng; needs a build with LATTICE_CAPTURE"},
    {"log_level", SettingKind::kText, "LEVEL", "warning", "of the processes started"},
};

constexpr ProgramSpec kProgram = {
    .name = "lattice-demo",
    .summary = "Starts a server, bots and two playable clients, and shows them on a page.",
    .usage = "lattice demo [options]",
    .examples =
        "  lattice demo                                   play in the browser until Ctrl-C\n"
        "  lattice demo --profile wifi-busy --bots 20\n"
        "  lattice demo --crowd 500                       the hall with 500 more bots\n"
        "  lattice demo --headless --seconds 20 --json    measure; exit 1 when a target is missed\n",
    .notes = R"(Headless, A and B are played by bots. A run has 3 s to settle, then every tick of --seconds
counts; targets are judged over A and B together. Own-pawn error compares where a client first
predicted its pawn at a tick with where the server had it. Ticks within 500 ms after another
pawn pushed it or a projectile hit it are not judged: no client can foresee those. Everything
else counts, doors and late inputs included. While A and B connect, their links have the
profile's delay but neither jitter nor loss, so that round trips can be counted. A run that
misses a target while the machine kept processes waiting 50 ms or more is repeated, twice at most.
client_bytes_per_s is what the server sent to any client in any second: at most 64,000 bytes of UDP
payload, and a bucket of 3,600.
Exit codes: 0 all met, 1 a target missed, 2 usage, 3 configuration, 4 port taken.
)",
    .settings = kSettings,
    .has_config_file = false,
};

int fail(const std::string& sentence, int code = kExitFailed) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return code;
}

/// The one-way delays of a profile. The links of A and B have them from the first datagram on.
struct LinkDelay {
  double up_ms = 0, down_ms = 0;
};

double delay_of(const std::string& profile, lattice_direction direction) {
  lattice_impairment impairment;
  lattice_impairment_init(&impairment);
  if (profile != "none") lattice_impairment_preset(profile.c_str(), direction, &impairment);
  return impairment.delay_ms;
}

std::string impair_line(const char* direction, double delay_ms) {
  JsonWriter json;
  json.begin_object();
  json.key("impair").begin_object();
  json.member("direction", direction);
  json.member("delay_ms", delay_ms);
  json.end_object();
  json.end_object();
  return json.text() + "\n";
}

/// What both kinds of run share: the processes, their reports, and the links of A and B.
class Demo {
 public:
  explicit Demo(const Settings& settings)
      : settings_(settings),
        profile_(settings.text("profile")),
        delay_{delay_of(profile_, LATTICE_DIRECTION_SEND), delay_of(profile_, LATTICE_DIRECTION_RECEIVE)} {}

  int start(bool players_are_bots, uint32_t report_rate_hz) {
    CastConfig config;
    config.bots = static_cast<uint32_t>(settings_.integer("bots"));
    config.crowd = static_cast<uint32_t>(settings_.integer("crowd"));
    config.players_are_bots = players_are_bots;
    config.report_rate_hz = report_rate_hz;
    config.log_level = settings_.text("log_level");
    config.capture = settings_.text("capture");
    config.first_client_lines = impair_line("up", delay_.up_ms) + impair_line("down", delay_.down_ms);
    if (const std::string problem = cast_.start(config); !problem.empty()) return fail(problem);
    return kExitOk;
  }

  /// Reads the reports of the processes. Once A and B are both connected, gives their links the full profile.
  /// Returns false when a process has ended.
  bool step() {
    cast_.listen(watch_);
    if (!link_is_full_ && watch_.connected(0) && watch_.connected(1)) {
      link_is_full_ = true;
      for (size_t i = 0; i < kWatchedClients && profile_ != "none"; ++i) {
        cast_.command(i, R"({"preset":{"name":")" + profile_ + R"("}})");
      }
      problem_ = cast_.start_crowd();
      if (!problem_.empty()) return false;
    }
    problem_ = cast_.missing();
    return problem_.empty();
  }

  bool both_connected() const { return link_is_full_; }
  const std::string& problem() const { return problem_; }
  Watch& watch() { return watch_; }
  Cast& cast() { return cast_; }
  double delay_rtt_ms() const { return delay_.up_ms + delay_.down_ms; }
  const std::string& profile() const { return profile_; }

 private:
  const Settings& settings_;
  std::string profile_;
  LinkDelay delay_;
  Watch watch_{kStepM, kSettleTicks};
  Cast cast_;
  bool link_is_full_ = false;
  std::string problem_;
};

// ---- With a page ----------------------------------------------------------------------------------------

class Page final : private WebHandler {
 public:
  explicit Page(Demo& demo, const std::string& page_dir) : demo_(demo), web_(page_dir, *this) {}

  std::string start(uint16_t port) { return web_.start(port); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(web_.port()) + "/"; }

  void open_browser() {
    if (const std::string problem = browser_.open(url()); !problem.empty()) fail(problem);
  }

  int serve() {
    while (!stop_requested()) {
      // A short time, because the reports of the children wait meanwhile.
      web_.run_for_ms(2);
      browser_.reap();
      if (!demo_.step() && !stop_requested()) return end(demo_.problem(), kExitFailed);
      if (web_.viewer_count() == 0) continue;
      if (const std::string news = demo_.watch().page_state(); !news.empty()) web_.broadcast(news);
    }
    return end("It was stopped in the terminal.", kExitOk);
  }

 private:
  std::string hello() override {
    JsonWriter json;
    json.begin_object();
    json.key("hello").begin_object();
    json.key("arena");
    write_arena(json);
    json.key("presets");
    write_presets(json);
    json.end_object();
    json.end_object();
    demo_.watch().show_all_again();
    return json.text();
  }
  /// Tells the page why the demo ends. Tells the terminal too when the reason is a fault.
  int end(const std::string& reason, int code) {
    JsonWriter json;
    json.begin_object();
    json.key("ended").begin_object();
    json.member("reason", reason);
    json.member("exit_code", code);
    json.end_object();
    json.end_object();
    web_.broadcast(json.text());
    web_.run_for_ms(50);
    return code == kExitOk ? kExitOk : fail(reason, code);
  }
  void viewer_message(std::string_view text) override {
    ViewerCommand command;
    if (!parse_viewer_command(text, command)) {
      ++ignored_messages_;
    } else if (command.is_for_server) {
      demo_.cast().command_server(demo_.watch().with_peer(command));
    } else {
      demo_.cast().command(command.client, command.line);
    }
  }
  void viewers_gone() override {
    for (size_t i = 0; i < kWatchedClients; ++i) demo_.cast().command(i, "{\"input\":{}}");
  }

  Demo& demo_;
  WebServer web_;
  Browser browser_;
  uint64_t ignored_messages_ = 0;
};

int run_page(const Settings& settings) {
  Demo demo(settings);
  Page page(demo, settings.text("page_dir"));
  const std::string problem = page.start(static_cast<uint16_t>(settings.integer("port")));
  if (!problem.empty()) return fail(problem, kExitPort);
  if (const int exit = demo.start(false, kPageRateHz); exit != kExitOk) return exit;
  std::printf("url: %s\n", page.url().c_str());
  std::printf("Press Ctrl-C to end.\n");
  std::fflush(stdout);
  if (!settings.is_on("no_open")) page.open_browser();
  return page.serve();
}

// ---- Headless -------------------------------------------------------------------------------------------

/// Runs until `until_ns` or until `done`, whichever comes first. Returns "", or why the demo cannot go on.
template <class Done>
std::string run_until(Demo& demo, uint64_t until_ns, Done done) {
  while (monotonic_ns() < until_ns && !done()) {
    if (stop_requested()) return "Interrupted.";
    if (!demo.step()) return demo.problem();
    sleep_ns(5'000'000);
  }
  return "";
}

/// Plays for --seconds and fills `run`. Returns "", or why that failed.
std::string measure(Demo& demo, double seconds, HeadlessRun& run) {
  const auto never = [] { return false; };
  for (size_t i = 0; i < kWatchedClients; ++i) {
    run.clients[i].before = demo.watch().client(i);
    demo.watch().errors(i).start_measuring();
  }
  run.server_before = demo.watch().server();
  const uint64_t began_ns = monotonic_ns();
  std::string problem = run_until(demo, began_ns + static_cast<uint64_t>(seconds * 1e9), never);
  run.seconds = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
  for (size_t i = 0; i < kWatchedClients; ++i) {
    run.clients[i].after = demo.watch().client(i);
    run.clients[i].errors = demo.watch().errors(i).summary();
  }
  run.server_after = demo.watch().server();
  return problem;
}

int print_verdict(const Settings& settings, const HeadlessRun& run, const std::vector<Target>& targets) {
  std::printf("%s\n",
              (settings.is_on("json") ? describe(run, targets) : describe_as_text(run, targets)).c_str());
  int exit = kExitOk;
  for (const Target& target : targets) {
    if (target.met) continue;
    std::fprintf(stderr, "target missed: %s is %.3f, at most %g wanted\n", target.name.c_str(), target.value,
                 target.limit);
    exit = kExitFailed;
  }
  if (exit != kExitOk && stalls(run) > 0) {
    std::fprintf(stderr,
                 "The machine was busy: it kept these processes waiting for 50 ms or more %llu times. "
                 "Run it again when nothing else runs.\n",
                 static_cast<unsigned long long>(stalls(run)));
  }
  return exit;
}

int run_headless(const Settings& settings) {
  Demo demo(settings);
  if (const int exit = demo.start(true, kHeadlessRateHz); exit != kExitOk) return exit;
  std::string problem = run_until(demo, monotonic_ns() + kConnectNs, [&] { return demo.both_connected(); });
  if (problem.empty() && !demo.both_connected()) problem = "A and B did not connect within 15 s.";
  const auto players =
      static_cast<uint64_t>(settings.integer("bots") + settings.integer("crowd")) + kWatchedClients;
  const auto everyone_is_in = [&] { return demo.watch().server().players >= players; };
  if (problem.empty() && settings.integer("crowd") > 0) {
    problem = run_until(demo, monotonic_ns() + kCrowdNs, everyone_is_in);
    if (problem.empty() && !everyone_is_in()) problem = "The crowd did not connect within 60 s.";
  }

  HeadlessRun run;
  run.profile = demo.profile();
  run.connect_rtt_ms = demo.delay_rtt_ms();
  run.bots = static_cast<uint32_t>(settings.integer("bots") + settings.integer("crowd"));
  std::vector<Target> targets;
  const auto all_met = [&] { return std::ranges::all_of(targets, &Target::met); };
  do {
    ++run.attempts;
    if (problem.empty()) problem = run_until(demo, monotonic_ns() + kWarmUpNs, [] { return false; });
    if (problem.empty()) problem = measure(demo, settings.number("seconds"), run);
    if (!problem.empty()) return fail(problem, stop_requested() ? kExitInterrupted : kExitFailed);
    targets = judge(run);
  } while (!all_met() && stalls(run) > 0 && run.attempts < kMaxAttempts);
  demo.cast().end();
  return print_verdict(settings, run, targets);
}

/// Checks what the range of a single setting does not cover. Returns kExitOk; or prints what is wrong and
/// returns another exit code.
int check_settings(const Settings& settings) {
  if (settings.is_on("headless")) return kExitOk;
  for (const char* key : {"json", "seconds"}) {
    if (settings.is_default(key)) continue;
    return usage_error(kProgram,
                       settings.origin(key) + " needs --headless: the page has no result to print.");
  }
  const std::string& page_dir = settings.text("page_dir");
  if (access((page_dir + "/index.html").c_str(), R_OK) == 0) return kExitOk;
  const std::string& origin = settings.origin("page_dir");
  return fail(origin + " is '" + page_dir + "', which has no index.html that can be read. Name the folder " +
                  "apps/depot-demo/page of the source tree, or leave it out.",
              origin.starts_with("--") ? kExitUsage : kExitConfig);
}

int run(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kProgram, argc, argv)) return *exit;
  if (const int exit = check_settings(settings); exit != kExitOk) return exit;
  const std::string& profile = settings.text("profile");
  if (const std::string problem = profile == "none" ? "" : check_preset(profile); !problem.empty()) {
    return usage_error(kProgram, problem);
  }
  catch_stop_signals();
  return settings.is_on("headless") ? run_headless(settings) : run_page(settings);
}

}  // namespace
}  // namespace app

int main(int argc, char** argv) {
  app::open_standard_descriptors();
  return app::run(argc, argv);
}
