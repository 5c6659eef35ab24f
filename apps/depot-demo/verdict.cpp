#include "verdict.h"

#include <cstdarg>
#include <cstdio>

#include "json_writer.h"

namespace app {
namespace {

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

struct Share {
  uint64_t part = 0, whole = 0;
  double pct() const { return percent(part, whole); }
  Share& operator+=(const Share& other) {
    part += other.part;
    whole += other.whole;
    return *this;
  }
};

/// The ticks that the server simulated without this client's own input for the tick.
Share late_inputs(const ClientRun& run) {
  const uint64_t late = run.after.inputs_repeated - run.before.inputs_repeated +
                        (run.after.inputs_missing - run.before.inputs_missing);
  return {late, late + (run.after.inputs_fresh - run.before.inputs_fresh)};
}

Share underruns(const ClientRun& run) {
  return {run.after.interpolation_underruns - run.before.interpolation_underruns,
          run.after.interpolation_samples - run.before.interpolation_samples};
}

double rate(uint64_t before, uint64_t after, double seconds) {
  return seconds > 0 ? static_cast<double>(after - before) / seconds : 0.0;
}

Target target(const std::string& name, double value, double limit) {
  return {name, value, limit, value <= limit};
}

void append(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append(std::string& out, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  out += line;
}

void write_client(JsonWriter& json, const ClientRun& run, double seconds) {
  const ClientCounters &before = run.before, &after = run.after;
  json.begin_object();
  json.member("rtt_ms", after.rtt_ms, 1);
  json.member("jitter_ms", after.jitter_ms, 1);
  json.member("loss_up_pct", after.send_loss_pct, 2);
  json.member("loss_down_pct", after.receive_loss_pct, 2);
  json.member("up_pps", rate(before.packets_sent, after.packets_sent, seconds), 1);
  json.member("up_Bps", rate(before.bytes_sent, after.bytes_sent, seconds), 0);
  json.member("down_pps", rate(before.packets_received, after.packets_received, seconds), 1);
  json.member("down_Bps", rate(before.bytes_received, after.bytes_received, seconds), 0);
  json.member("snapshots_applied", after.snapshots - before.snapshots);
  json.member("rollbacks", after.rollbacks - before.rollbacks);
  json.member("resimulated_ticks", after.resimulated_ticks - before.resimulated_ticks);
  json.member("hard_resets", after.hard_resets - before.hard_resets);
  json.member("clock_resyncs", after.clock_resyncs - before.clock_resyncs);
  json.member("error_mean_mm", run.errors.mean_mm, 2);
  json.member("error_p99_mm", run.errors.p99_mm, 2);
  json.member("error_max_mm", run.errors.max_mm, 1);
  json.member("ticks_compared", run.errors.ticks);
  json.member("disturbed_ticks_pct",
              percent(run.errors.ticks - run.errors.undisturbed_ticks, run.errors.ticks), 2);
  json.member("ticks_beyond_step_pct", percent(run.errors.beyond_step, run.errors.undisturbed_ticks), 3);
  json.member("ticks_beyond_step_all_pct", percent(run.errors.beyond_step_all, run.errors.ticks), 3);
  json.member("underruns_pct", underruns(run).pct(), 3);
  json.member("late_inputs_pct", late_inputs(run).pct(), 3);
  json.member("connect_ms", after.connect_ms, 1);
  json.member("stalls", after.stalls - before.stalls);
  json.end_object();
}

}  // namespace

std::vector<Target> judge(const HeadlessRun& run) {
  // A and B have the same kind of link, so they are judged as one sample of twice the size. In it, a single
  // datagram lost at the wrong moment weighs half.
  Share beyond{}, late{}, dry{};
  double compared_s = 0;
  for (const ClientRun& client : run.clients) {
    beyond += {client.errors.beyond_step, client.errors.undisturbed_ticks};
    late += late_inputs(client);
    dry += underruns(client);
    compared_s += static_cast<double>(client.errors.ticks) / 60.0 / kWatchedClients;
  }
  std::vector<Target> targets = {
      target("ticks_beyond_step_pct", beyond.pct(), 1.0),
      target("late_inputs_pct", late.pct(), 1.0),
      target("underruns_pct", dry.pct(), 1.0),
      // The other targets mean nothing unless nearly all of the time was compared.
      target("seconds_not_compared", run.seconds - compared_s, run.seconds * 0.1),
  };
  if (const ServerCounters& server = run.server_after; server.cap_bytes_per_s != 0) {
    // Of every client, bots too, from the server's start on. In one second the bucket may come on top.
    targets.push_back(target("client_bytes_per_s", server.most_bytes_per_s,
                             static_cast<double>(server.cap_bytes_per_s + server.cap_bucket_bytes)));
  }
  for (size_t i = 0; i < kWatchedClients && run.connect_rtt_ms >= 50; ++i) {
    // A connect takes two round trips, and the time that two processes wait for their turn. Three round trips
    // would be a fault of the protocol.
    targets.push_back(target(std::string(kClientNames[i]) + ".connect_round_trips",
                             run.clients[i].after.connect_ms / run.connect_rtt_ms, 2.5));
  }
  return targets;
}

uint64_t stalls(const HeadlessRun& run) {
  uint64_t count = run.server_after.stalls - run.server_before.stalls;
  for (const ClientRun& client : run.clients) count += client.after.stalls - client.before.stalls;
  return count;
}

std::string describe(const HeadlessRun& run, const std::vector<Target>& targets) {
  JsonWriter json;
  json.begin_object();
  json.member("profile", std::string_view(run.profile));
  json.member("seconds", run.seconds, 2);
  json.member("bots", run.bots);
  json.member("attempts", run.attempts);
  json.key("clients").begin_object();
  for (size_t i = 0; i < kWatchedClients; ++i) {
    json.key(kClientNames[i]);
    write_client(json, run.clients[i], run.seconds);
  }
  json.end_object();
  json.key("server").begin_object();
  json.member("tick_p50_ms", run.server_after.tick_p50_ms);
  json.member("tick_p99_ms", run.server_after.tick_p99_ms);
  json.member("players", run.server_after.players);
  json.member("sent_Bps", rate(run.server_before.bytes_sent, run.server_after.bytes_sent, run.seconds), 0);
  json.member("most_client_Bps", run.server_after.most_bytes_per_s, 0);
  const uint64_t late = run.server_after.inputs_late - run.server_before.inputs_late;
  json.member("late_inputs", late);
  json.member("late_inputs_pct",
              percent(late, run.server_after.inputs_received - run.server_before.inputs_received));
  json.member("stalls", run.server_after.stalls - run.server_before.stalls);
  json.end_object();
  json.key("targets").begin_array();
  for (const Target& t : targets) {
    json.begin_object();
    json.member("name", std::string_view(t.name));
    json.member("value", t.value);
    json.member("limit", t.limit);
    json.member("met", t.met);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text();
}

std::string describe_as_text(const HeadlessRun& run, const std::vector<Target>& targets) {
  std::string out;
  append(out, "profile %s, %.1f s, %u bots\n", run.profile.c_str(), run.seconds, run.bots);
  for (size_t i = 0; i < kWatchedClients; ++i) {
    const ClientRun& client = run.clients[i];
    append(out,
           "%s  rtt %.0f ms  loss %.1f/%.1f %%  %.0f B/s up, %.0f B/s down  %llu snapshots  %llu rollbacks\n",
           kClientNames[i], client.after.rtt_ms, client.after.send_loss_pct, client.after.receive_loss_pct,
           rate(client.before.bytes_sent, client.after.bytes_sent, run.seconds),
           rate(client.before.bytes_received, client.after.bytes_received, run.seconds),
           static_cast<unsigned long long>(client.after.snapshots - client.before.snapshots),
           static_cast<unsigned long long>(client.after.rollbacks - client.before.rollbacks));
    append(out, "   own pawn off by %.1f mm on average, %.1f mm p99; %.1f %% of ticks disturbed\n",
           client.errors.mean_mm, client.errors.p99_mm,
           percent(client.errors.ticks - client.errors.undisturbed_ticks, client.errors.ticks));
  }
  const ServerCounters &before = run.server_before, &after = run.server_after;
  append(out,
         "server  tick p50 %.2f ms, p99 %.2f ms  %llu players  %.0f B/s to all, %.0f B/s to the busiest\n",
         after.tick_p50_ms, after.tick_p99_ms, static_cast<unsigned long long>(after.players),
         rate(before.bytes_sent, after.bytes_sent, run.seconds), after.most_bytes_per_s);
  for (const Target& t : targets) {
    append(out, "%s  %-28s %8.3f  (at most %g)\n", t.met ? "ok    " : "MISSED", t.name.c_str(), t.value,
           t.limit);
  }
  return out;
}

}  // namespace app
