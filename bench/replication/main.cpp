// replication-end: one measured process of the replication bench, a server or its load. Started by
// lattice-bench, which pins it and reads its processor time; it can be run by hand too:
//
//   replication-end serve --clients 64                  prints "port P"; SIGTERM ends it
//   replication-end load --clients 64 --port P          the generators and the witness
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "replication/processes.h"

namespace bench {
namespace {

volatile std::sig_atomic_t end_wanted = 0;

struct Role {
  std::string_view name;
  int (*run)(const EndArguments&);
};
constexpr std::array kRoles = {
    Role{"serve", serve_scene},       Role{"load", load_generators},  Role{"worlds", load_worlds},
    Role{"serve-floor", serve_floor}, Role{"load-floor", load_floor}, Role{"change", run_change},
    Role{"storm", run_storm},         Role{"join", run_join},         Role{"decode", run_decode},
    Role{"rollback", run_rollback},   Role{"play", play_honestly},    Role{"attack", play_hostile}};

bool parse(int argc, char** argv, EndArguments* out) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--spectators") {
      out->spectators = true;
      continue;
    }
    if (name == "--no-inputs") {
      out->with_inputs = false;
      continue;
    }
    if (name == "--uneven") {
      out->uneven = true;
      continue;
    }
    if (i + 1 == argc) return false;
    if (name == "--attack") {
      out->attack = argv[++i];
      continue;
    }
    const double number = std::strtod(argv[++i], nullptr);
    const auto value = static_cast<uint32_t>(number);
    if (name == "--clients") {
      out->clients = value;
    } else if (name == "--objects") {
      out->objects = value;
    } else if (name == "--moving-percent") {
      out->moving_percent = value;
    } else if (name == "--port") {
      out->port = static_cast<uint16_t>(value);
    } else if (name == "--cap") {
      out->cap_bytes_per_s = value;
    } else if (name == "--trace-fd") {
      out->trace_fd = value;
    } else if (name == "--snapshot-rate") {
      out->snapshot_rate_hz = value;
    } else if (name == "--in-set") {
      out->in_set = value;
    } else if (name == "--room-players") {
      out->room_players = value;
    } else if (name == "--datagram-ticks") {
      out->datagram_ticks = value;
    } else if (name == "--seed") {
      out->seed = value;
    } else if (name == "--seconds") {
      out->seconds = number;
    } else if (name == "--up-per-s") {
      out->up_per_s = number;
    } else if (name == "--up-bytes") {
      out->up_bytes = value;
    } else {
      return false;
    }
  }
  return out->clients >= 1 && out->clients <= 16384 && out->datagram_ticks >= 1;
}

int run(int argc, char** argv) {
  EndArguments arguments;
  if (argc < 2 || !parse(argc, argv, &arguments)) return 2;
  for (const Role& role : kRoles) {
    if (role.name == argv[1]) return role.run(arguments);
  }
  return 2;
}

}  // namespace

void say(const char* name, double value) {
  std::printf("%s %.9g\n", name, value);
  std::fflush(stdout);
}

bool take_go() {
  pollfd in = {STDIN_FILENO, POLLIN, 0};
  if (poll(&in, 1, 0) <= 0 || (in.revents & POLLIN) == 0) return false;
  std::array<char, 3> line;  // "go\n"
  return read(STDIN_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

bool should_end() {
  return end_wanted != 0;
}

}  // namespace bench

int main(int argc, char** argv) {
  struct sigaction end_action {};
  end_action.sa_handler = [](int) { bench::end_wanted = 1; };
  sigaction(SIGTERM, &end_action, nullptr);
  const int code = bench::run(argc, argv);
  if (code == 2) {
    std::fprintf(stderr,
                 "replication-end serve|load|worlds|serve-floor|load-floor|change|storm|join|decode|rollback|"
                 "play|attack "
                 "[--clients N] [--objects N] [--moving-percent N] [--port P] [--cap BYTES_PER_S] "
                 "[--snapshot-rate HZ] [--in-set N] [--room-players N] [--datagram-ticks N] [--spectators] "
                 "[--no-inputs] [--uneven] [--seed N] [--seconds S] [--attack NAME]\n");
  }
  return code;
}
