// The way of the last key press to the screens, joined from the reports of the server and of both clients.
// All times are Unix milliseconds by the one clock of this machine, so differences of times are measurements:
//
//   pressed   the key went down (the page)             sent     the first snapshot with that tick left
//   heard     the client learned of it                 came     … and arrived at a client
//   sampled   an input command holds it                drawn    … whose picture contains the whole tick
//   arrived   the server has that command
//   applied   a tick was simulated with it
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace app {

class PressJoin {
 public:
  static constexpr size_t kClients = 2;

  struct ClientPress {
    uint32_t id = 0, tick = 0;
    double pressed_ms = 0, heard_ms = 0, sampled_ms = 0;
    double predicted_ms = 0;  // when prediction drew the press; 0: it did not
  };
  struct ServerPress {
    uint32_t id = 0;
    double arrived_ms = 0;
    uint32_t applied_tick = 0;
    double applied_ms = 0;
  };
  /// One state of a pawn that a client received and drew.
  struct Seen {
    uint64_t pawn = 0;
    uint32_t tick = 0;
    double heard_ms = 0, drawn_ms = 0;
  };
  struct View {
    double sent_ms = 0, heard_ms = 0, drawn_ms = 0;
  };
  /// Everything known of one press. A time that is not known yet is 0.
  struct Joined {
    size_t client = 0;
    ClientPress press;
    ServerPress server;
    std::array<View, kClients> views;
  };

  explicit PressJoin(double tick_ms) : tick_ms_(tick_ms) {}

  void client_press(size_t client, uint64_t pawn, const ClientPress& press);
  void server_press(size_t client, const ServerPress& press);
  void server_tick(uint32_t tick, double unix_ms);
  void seen(size_t client, const Seen& seen);

  /// The last press of either client; nullopt before the first.
  std::optional<Joined> last() const;
  /// When the server had simulated a point of its time line. For a tick without a report, the time is
  /// extrapolated from the newest tick. 0 before the first report.
  double server_time_ms(double tick) const;

 private:
  static constexpr size_t kTicks = 512;
  static constexpr size_t kSeen = 512;

  struct Tick {
    uint32_t tick = 0;
    double unix_ms = 0;
  };

  double time_of(uint32_t tick) const;
  View view_of(size_t client, uint64_t pawn, uint32_t applied_tick) const;

  double tick_ms_;
  uint32_t newest_tick_ = 0;
  std::array<Tick, kTicks> ticks_{};
  std::array<uint64_t, kClients> pawns_{};
  std::array<ClientPress, kClients> presses_{};
  std::array<ServerPress, kClients> applied_{};
  std::array<std::deque<Seen>, kClients> seen_;
};

}  // namespace app
