// What the demo decides: who may ask its page server, what a viewer may say, how errors are judged.
#include <gtest/gtest.h>

#include "error_meter.h"
#include "http/loopback_host.h"
#include "verdict.h"
#include "watch.h"
#include "web_server.h"

namespace app {
namespace {

TEST(WebPaths, OnlyLoopbackHosts) {
  for (const char* good : {"127.0.0.1", "127.0.0.1:8000", "localhost:1", "[::1]", "[::1]:80"}) {
    EXPECT_TRUE(is_loopback_host(good)) << good;
  }
  for (const char* bad : {"", ":", ":80", "evil.example", "127.0.0.1.evil.example", "127.0.0.1:80x",
                          "127.0.0.1:", "127.0.0.2", "localhost.evil", "[::1", "::1", "127.0.0.1:123456"}) {
    EXPECT_FALSE(is_loopback_host(bad)) << bad;
  }
}

TEST(WebPaths, OnlyPlainFiles) {
  EXPECT_EQ(page_file_of("/"), "index.html");
  EXPECT_EQ(page_file_of("/main.js?v=1"), "main.js");
  EXPECT_EQ(page_file_of("/a/b-c_d.2.js"), "a/b-c_d.2.js");
  for (const char* bad : {"", "main.js", "/..", "/../x", "/a/../x", "/.hidden", "/a/.b", "//x", "/a//b",
                          "/a/", "/%2e%2e/x", "/a\\b", "http://x/"}) {
    EXPECT_EQ(page_file_of(bad), "") << bad;
  }
}

TEST(ViewerCommand, PassesOnWhatThePageMaySay) {
  ViewerCommand command;
  ASSERT_TRUE(
      parse_viewer_command(R"({"input":{"client":"B","x":1,"y":-1,"dash":true,"extra":[1,2]}})", command));
  EXPECT_EQ(command.client, 1u);
  EXPECT_EQ(command.line, R"({"input":{"dash":true,"x":1,"y":-1}})");
  ASSERT_TRUE(parse_viewer_command(R"({"impair":{"client":"A","direction":"up","delay_ms":20}})", command));
  EXPECT_EQ(command.line, R"({"impair":{"delay_ms":20,"direction":"up"}})");
  ASSERT_TRUE(parse_viewer_command(R"({"preset":{"client":"B","name":"4g"}})", command));
  EXPECT_EQ(command.line, R"({"preset":{"name":"4g"}})");
  ASSERT_TRUE(parse_viewer_command(R"({"toggle":{"client":"A","smoothing":false}})", command));
  EXPECT_EQ(command.line, R"({"toggle":{"smoothing":false}})");
}

TEST(ViewerCommand, AsksTheServerAboutAClient) {
  Watch watch(1.0 / 512, 30);
  ViewerCommand command;
  ASSERT_TRUE(parse_viewer_command(R"({"shove":{"client":"B","peer":99}})", command));
  EXPECT_TRUE(command.is_for_server);
  EXPECT_EQ(watch.with_peer(command), R"({"shove":{"peer":0}})");
  ASSERT_TRUE(parse_viewer_command(R"({"disagree":{"client":"A"}})", command));
  EXPECT_EQ(watch.with_peer(command), R"({"disagree":{"peer":0}})");
  ASSERT_TRUE(parse_viewer_command(R"({"why":{"client":"A","id":7,"x":1.5,"y":2,"peer":9}})", command));
  EXPECT_EQ(watch.with_peer(command), R"({"why":{"id":7,"peer":0,"x":1.5,"y":2}})");
  ASSERT_TRUE(parse_viewer_command(R"({"toggle":{"client":"A","smoothing":false}})", command));
  EXPECT_FALSE(command.is_for_server);
}

TEST(ViewerCommand, IgnoresEverythingElse) {
  ViewerCommand command;
  for (const char* bad :
       {"", "{", "[]", "5", "null", R"("input")", R"({"input":5})", R"({"input":{}})",
        R"({"input":{"client":"C"}})", R"({"input":{"client":5}})", R"({"quit":{"client":"A"}})",
        R"({"preset":{"client":"A"}})", R"({"impair":{"client":"A"}})",
        R"({"impair":{"client":"A","direction":"sideways"}})", R"({"impair":{"client":"A","direction":7}})",
        R"({"input":{"client":"A"},"toggle":{"client":"A"}})"}) {
    EXPECT_FALSE(parse_viewer_command(bad, command)) << bad;
  }
}

TEST(ErrorMeter, ComparesTheSameTickWhicheverSideComesFirst) {
  ErrorMeter meter(1.0 / 512, 30);
  meter.truth({10, 1, 1, false});
  meter.prediction({10, 1, 1, false});
  meter.prediction({11, 2, 1, false});
  meter.truth({11, 2.003, 1, false});
  meter.prediction({12, 2, 1, false});
  EXPECT_EQ(meter.summary().ticks, 2u);
  EXPECT_EQ(meter.summary().beyond_step, 1u);
  EXPECT_NEAR(meter.summary().mean_mm, 1.5, 1e-5);
  EXPECT_NEAR(meter.take_recent_mm().value(), 3, 1e-5);
  EXPECT_FALSE(meter.take_recent_mm());
}

TEST(ErrorMeter, OneStepIsNotBeyond) {
  ErrorMeter meter(1.0 / 512, 30);
  meter.truth({10, 1, 1, false});
  meter.prediction({10, 1.001953, 0.998047, false});
  EXPECT_EQ(meter.summary().beyond_step_all, 0u);
}

TEST(ErrorMeter, DisturbedTicksAreComparedButNotJudged) {
  ErrorMeter meter(1.0 / 512, 30);
  for (uint32_t tick = 100; tick < 200; ++tick) {
    meter.truth({tick, 1, 1, tick == 120});
    meter.prediction({tick, 2, 1, false});
  }
  EXPECT_EQ(meter.summary().ticks, 100u);
  EXPECT_EQ(meter.summary().undisturbed_ticks, 70u);
  EXPECT_EQ(meter.summary().beyond_step, 70u);
  EXPECT_EQ(meter.summary().beyond_step_all, 100u);
  meter.start_measuring();
  EXPECT_EQ(meter.summary().ticks, 0u);
}

TEST(Watch, IgnoresDamagedLines) {
  Watch watch(1.0 / 512, 30);
  for (const char* bad : {"", "{", "[]", "{\"telemetry\":1}", "{\"tick_p50_ms\":\"x\"}"}) {
    watch.server_line(bad);
    watch.client_line(0, bad);
  }
  EXPECT_EQ(watch.malformed_lines(), 10u);
  EXPECT_FALSE(watch.connected(0));
  // Nobody was heard: the page is told so, and shown nothing.
  const std::string state = watch.page_state();
  EXPECT_NE(state.find(R"("heard":{})"), std::string::npos) << state;
  EXPECT_EQ(state.find("clients"), std::string::npos) << state;
}

std::string server_line(uint32_t tick, double x) {
  const std::string at = std::to_string(tick);
  return R"({"t":1000,"tick":)" + at + R"(,"tick_p50_ms":1,"tick_p99_ms":1,"players":1,)" +
         R"("inputs":{"received":1,"late":0},"stalls":0,"longest_stall_ms":0,"objects":[],)" +
         R"("bytes_sent":9,"cap":{"bytes_per_s":64000,"bucket_bytes":3600,"most_bytes_per_s":5},)" +
         R"("peers":[{"peer":2,"pawn":9,"fresh":1,"repeated":3,"missing":4}],"truth":[[)" + at + ",9," +
         std::to_string(x) + ",1,0]],\"tick_times\":[[" + at + R"(,1000]],"presses":[]})";
}

std::string client_line(uint32_t tick, double x) {
  const std::string at = std::to_string(tick);
  return R"({"t":1050,"connected":true,"peer":2,"pawn":9,"rtt_ms":1,"jitter_ms":1,"snapshots":1,)"
         R"("rollbacks":0,"resim_ticks":0,"drawn_tick":)" +
         at + R"(,"own":[[)" + at + "," + std::to_string(x) +
         R"(,1,0]],"seen":[],"totals":{"packets_sent":1,"packets_received":1,"bytes_sent":1,)"
         R"("bytes_received":1,"send_loss_pct":0,"receive_loss_pct":0,"interpolation_samples":0,)"
         R"("interpolation_underruns":0,"hard_resets":0,"clock_resyncs":0,"stalls":0,)"
         R"("longest_stall_ms":0,"connect_ms":1,"ignored_lines":0}})";
}

TEST(Watch, TellsWhatIsNewOfWhomItIs) {
  Watch watch(1.0 / 512, 30);
  watch.client_line(0, client_line(10, 1));
  watch.server_line(server_line(10, 1));
  watch.client_line(0, client_line(11, 1));
  EXPECT_EQ(watch.malformed_lines(), 0u);
  const std::string first = watch.page_state();
  EXPECT_NE(first.find(R"("A":{)"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("server":{)"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("inputs_late":7)"), std::string::npos) << first;
  // One tick after the tick of time 1000, told at 1050.
  EXPECT_NE(first.find(R"("others_age_ms":33.3)"), std::string::npos) << first;
  watch.client_line(0, client_line(12, 1));
  const std::string second = watch.page_state();
  EXPECT_NE(second.find(R"("A":{)"), std::string::npos) << second;
  EXPECT_EQ(second.find(R"("server":{)"), std::string::npos) << second;
}

TEST(Watch, KeepsWhatIsToldNowAndThen) {
  Watch watch(1.0 / 512, 30);
  std::string line = server_line(10, 1);
  line.insert(1, R"("resting":[7,100,200],)");
  watch.server_line(line);
  watch.server_line(server_line(11, 1));
  EXPECT_NE(watch.page_state().find(R"("resting":[7,100,200])"), std::string::npos);
  watch.server_line(server_line(12, 1));
  EXPECT_EQ(watch.page_state().find("resting"), std::string::npos);
}

TEST(Watch, PassesAnAnswerOnOnce) {
  Watch watch(1.0 / 512, 30);
  watch.client_line(1, client_line(10, 1));
  std::string line = server_line(10, 1);
  line.insert(
      1, R"("why":[{"peer":2,"object":7,"kind":"parcel","text":"far"},{"peer":3,"object":7,"text":""}],)");
  watch.server_line(line);
  watch.server_line(server_line(11, 1));
  EXPECT_EQ(watch.malformed_lines(), 0u);
  const std::string first = watch.page_state();
  EXPECT_NE(first.find(R"("why":[{"client":"B","kind":"parcel","object":7,"text":"far"}])"),
            std::string::npos)
      << first;
  watch.server_line(server_line(12, 1));
  EXPECT_EQ(watch.page_state().find("why"), std::string::npos);
}

TEST(Watch, APageBeginsWithoutTheErrorsOfThePast) {
  Watch watch(1.0 / 512, 30);
  watch.client_line(0, client_line(10, 1));
  watch.server_line(server_line(10, 3));
  watch.show_all_again();
  EXPECT_EQ(watch.page_state().find("error_mm"), std::string::npos);
  watch.client_line(0, client_line(11, 1));
  watch.server_line(server_line(11, 1.5));
  EXPECT_NE(watch.page_state().find(R"("error_mm":500.0)"), std::string::npos);
}

HeadlessRun good_run() {
  HeadlessRun run;
  run.seconds = 10;
  run.connect_rtt_ms = 100;
  run.server_after.cap_bytes_per_s = 64'000;
  run.server_after.cap_bucket_bytes = 3600;
  for (ClientRun& client : run.clients) {
    client.errors.ticks = client.errors.undisturbed_ticks = 600;
    client.after.inputs_fresh = 600;
    client.after.interpolation_samples = 3000;
    client.after.connect_ms = 205;
  }
  return run;
}

bool met(const HeadlessRun& run, const std::string& name) {
  for (const Target& target : judge(run)) {
    if (target.name == name) return target.met;
  }
  ADD_FAILURE() << "no target " << name;
  return false;
}

TEST(Verdict, NamesWhatIsMissed) {
  HeadlessRun run = good_run();
  for (const Target& target : judge(run)) EXPECT_TRUE(target.met) << target.name;
  run.clients[0].errors.beyond_step = 12;
  EXPECT_TRUE(met(run, "ticks_beyond_step_pct"));
  run.clients[1].errors.beyond_step = 1;
  EXPECT_FALSE(met(run, "ticks_beyond_step_pct"));
  EXPECT_TRUE(met(run, "late_inputs_pct"));
  run.clients[1].after.inputs_missing = 14;
  EXPECT_FALSE(met(run, "late_inputs_pct"));
  run.clients[1].after.interpolation_underruns = 61;
  EXPECT_FALSE(met(run, "underruns_pct"));
  run.server_after.most_bytes_per_s = 67'600;
  EXPECT_TRUE(met(run, "client_bytes_per_s"));
  run.server_after.most_bytes_per_s = 67'601;
  EXPECT_FALSE(met(run, "client_bytes_per_s"));
  run.clients[0].after.connect_ms = 305;
  EXPECT_FALSE(met(run, "A.connect_round_trips"));
  EXPECT_TRUE(met(run, "B.connect_round_trips"));
}

TEST(Verdict, MeasuringNothingIsAMiss) {
  HeadlessRun run = good_run();
  run.clients[0].errors = {};
  EXPECT_FALSE(met(run, "seconds_not_compared"));
}

}  // namespace
}  // namespace app
