// congestion: each controller on links that are narrow and change. Cellular links are synthetic, from seeds,
// and also recorded ones if --traces names their folder. For comparison, a sender without control. Then
// transfers over a link of fixed rate and over a long lossy path. Virtual time: every number is the same on
// every machine. Then ends that read and send rarely, and datagrams that overtake each other. Last, urgent
// messages beside a full channel.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "narrow_link.h"
#include "registry.h"

namespace bench {
namespace {

namespace reliability = lattice::reliability;
using lattice::socket::RateTrace;
using reliability::CongestionMode;

struct Link {
  std::string name;
  RateTrace trace;
};

struct Sender {
  const char* name;
  reliability::CongestionConfig congestion;
  uint64_t offered_bytes_per_s = 0;
};

constexpr uint64_t kUnlimitedBytesPerS = 1'250'000;
/// Deep, as cellular buffers are; the controllers never fill it.
constexpr uint64_t kQueueBytes = 2'000'000;

std::vector<Sender> senders() {
  std::vector<Sender> out(5);
  out[0].name = "delay";
  out[1].name = "delay_72kb";  // the ceiling of good_bad, for a comparison at the same rate
  out[1].congestion.max_rate_bytes_per_s = 60 * reliability::kDatagramBytes;
  out[2].name = "good_bad";
  out[2].congestion.mode = CongestionMode::kGoodBad;
  out[3].name = "good_bad_600";  // ten times the rates, so that it can fill such links at all
  out[3].congestion.mode = CongestionMode::kGoodBad;
  out[3].congestion.good_bad.bad_rate_hz = 100;
  out[3].congestion.good_bad.start_rate_hz = 300;
  out[3].congestion.good_bad.step_rate_hz = 100;
  out[3].congestion.good_bad.max_rate_hz = 600;
  out[4].name = "unlimited";
  out[4].congestion.mode = CongestionMode::kNone;
  out[4].offered_bytes_per_s = kUnlimitedBytesPerS;
  return out;
}

/// Reads a trace of one time in milliseconds per line. "" or what is wrong.
std::string read_trace(const std::filesystem::path& file, std::vector<Link>* out) {
  std::ifstream in(file);
  std::vector<uint32_t> times_ms;
  for (uint32_t time_ms = 0; in >> time_ms;) times_ms.push_back(time_ms);
  RateTrace trace(std::move(times_ms));
  if (!in.eof() || !trace.valid()) {
    return file.string() + " is not a trace. Give files of ascending times in milliseconds, one per line.";
  }
  std::string name = file.filename().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  out->push_back({name, std::move(trace)});
  return "";
}

std::string read_traces(const std::string& folder, std::vector<Link>* out) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".up" || extension == ".down") files.push_back(entry.path());
  }
  if (files.empty())
    return "no *.up and *.down files in '" + folder + "'. Name the folder of unpacked traces.";
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    if (std::string problem = read_trace(file, out); !problem.empty()) return problem;
  }
  return "";
}

std::vector<Link> made_up_links(uint32_t seconds) {
  std::vector<Link> out;
  for (const uint64_t seed : {1u, 2u}) {
    lattice::socket::CellularConfig config;
    config.seed = seed;
    config.seconds = seconds;
    out.push_back({"cellular" + std::to_string(seed), RateTrace::cellular(config)});
  }
  return out;
}

std::string measure_link(const Link& link, double seconds, Report& report) {
  std::vector<NarrowResult> results;
  const std::vector<Sender> all = senders();
  for (const Sender& sender : all) {
    NarrowRun run;
    run.trace = &link.trace;
    run.queue_bytes = kQueueBytes;
    run.seconds = seconds;
    run.congestion = sender.congestion;
    run.offered_bytes_per_s = sender.offered_bytes_per_s;
    const NarrowResult result = run_narrow(run);
    if (!result.problem.empty()) return link.name + ": " + result.problem;
    const std::string prefix = link.name + "_" + sender.name;
    report.metric(prefix + "_goodput_kb_per_s", result.goodput_kb_per_s);
    report.metric(prefix + "_queue_p50_ms", result.queue_p50_ms);
    report.metric(prefix + "_queue_p95_ms", result.queue_p95_ms);
    results.push_back(result);
  }
  report.metric(link.name + "_capacity_kb_per_s", static_cast<double>(link.trace.bytes_per_s()) / 1000.0);
  // Of each row: the delay mode's share of the other's p95 queue, and of its goodput.
  const auto compare = [&](size_t ours, size_t theirs, const std::string& name) {
    report.ratio(link.name + "_" + name + "_queue_p95",
                 results[ours].queue_p95_ms / results[theirs].queue_p95_ms);
    report.ratio(link.name + "_" + name + "_goodput",
                 results[ours].goodput_kb_per_s / results[theirs].goodput_kb_per_s);
  };
  compare(0, 2, "delay_vs_good_bad");
  compare(1, 2, "delay_72kb_vs_good_bad");
  compare(0, 3, "delay_vs_good_bad_600");
  compare(0, 4, "delay_vs_unlimited");
  return "";
}

std::string measure_transfer(const std::string& name, const NarrowRun& run, Report& report) {
  const NarrowResult result = run_narrow(run);
  if (!result.problem.empty()) return name + ": " + result.problem;
  report.metric(name + "_kb_per_s", result.goodput_kb_per_s);
  report.metric(name + "_queue_p95_ms", result.queue_p95_ms);
  report.metric(name + "_queue_max_ms", result.queue_max_ms);
  report.ratio(name + "_bytes", result.bytes_ratio);
  return "";
}

std::string measure_transfers(bool quick, Report& report) {
  const uint64_t bytes = quick ? 500'000 : 8'000'000;
  for (const CongestionMode mode : {CongestionMode::kDelay, CongestionMode::kNone}) {
    const std::string suffix = mode == CongestionMode::kDelay ? "_delay" : "_none";
    NarrowRun narrow;
    narrow.transfer_bytes = bytes;
    narrow.queue_bytes = 250'000;
    narrow.delay_ms = 20;
    narrow.pump_ms = 1;
    narrow.congestion.mode = mode;
    if (std::string problem = measure_transfer("transfer_10mbit" + suffix, narrow, report);
        !problem.empty()) {
      return problem;
    }
    NarrowRun lossy = narrow;
    lossy.rate_bits_per_s = 1'000'000'000;
    lossy.queue_bytes = 0;
    lossy.delay_ms = 50;
    lossy.loss = 0.01;
    if (std::string problem = measure_transfer("transfer_lossy" + suffix, lossy, report); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

// A path of 1 Gbit/s whose ends are pumped rarely, each pump up to a tenth of the interval late.
std::string measure_rare_pumps(bool quick, Report& report) {
  constexpr double kOftenMs = 5;
  for (const auto& [name, every_ms] :
       {std::pair("5hz", 200.0), std::pair("10hz", 100.0), std::pair("30hz", 33.0)}) {
    for (const auto& [who, sender_ms, receiver_ms] :
         {std::tuple("both", every_ms, every_ms), std::tuple("receiver", kOftenMs, every_ms),
          std::tuple("sender", every_ms, kOftenMs)}) {
      NarrowRun run;
      run.transfer_bytes = quick ? 4'000'000 : 100'000'000;
      run.rate_bits_per_s = 1'000'000'000;
      run.pump_ms = sender_ms;
      run.receiver_pump_ms = receiver_ms;
      run.late_pump_ms = std::min(sender_ms, receiver_ms) / 10;
      if (std::string problem = measure_transfer(std::string("pump_") + name + "_" + who, run, report);
          !problem.empty()) {
        return problem;
      }
    }
  }
  return "";
}

// The worst of several seeds: what jitter does to a window depends on chance.
std::string measure_jitter(double seconds, Report& report) {
  for (const auto& [name, jitter_ms] :
       {std::pair("jitter5", 5.0), std::pair("jitter10", 10.0), std::pair("jitter20", 20.0)}) {
    double least_kb_per_s = 1e9;
    double longest_queue_ms = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      NarrowRun run;
      run.seed = seed;
      run.rate_bits_per_s = 16'000'000;
      run.jitter_ms = jitter_ms;
      run.pump_ms = 17;
      run.late_pump_ms = 1;
      run.seconds = std::min(seconds, 30.0);
      const NarrowResult result = run_narrow(run);
      if (!result.problem.empty()) return name + (": " + result.problem);
      least_kb_per_s = std::min(least_kb_per_s, result.goodput_kb_per_s);
      longest_queue_ms = std::max(longest_queue_ms, result.queue_p50_ms);
    }
    report.metric(std::string(name) + "_least_goodput_kb_per_s", least_kb_per_s);
    report.metric(std::string(name) + "_longest_queue_p50_ms", longest_queue_ms);
  }
  return "";
}

// An urgent unreliable message 60 times a second beside a reliable channel that always has more: how much
// later it arrives than 1.5 times as late as alone on the link, at the 99th percentile.
std::string measure_mixed(double seconds, Report& report) {
  for (const auto& [name, pump_ms] :
       {std::pair("mixed_unreliable", 5.0), std::pair("mixed_unreliable_17ms", 17.0)}) {
    NarrowRun run;
    run.delay_ms = 20;
    run.pump_ms = pump_ms;
    run.voice_per_s = 60;
    run.seconds = seconds;
    const NarrowResult beside = run_narrow(run);
    run.voice_alone = true;
    const NarrowResult alone = run_narrow(run);
    for (const NarrowResult* result : {&beside, &alone}) {
      if (!result->problem.empty()) return name + (": " + result->problem);
      if (result->voice_lost != 0)
        return name + std::string(": messages were lost on a link that loses none.");
    }
    report.metric(std::string(name) + "_p99_ms", beside.voice_p99_ms);
    report.metric(std::string(name) + "_alone_p99_ms", alone.voice_p99_ms);
    report.metric(std::string(name) + "_p99_over_ms", beside.voice_p99_ms - 1.5 * alone.voice_p99_ms);
    report.metric(std::string(name) + "_reliable_kb_per_s", beside.goodput_kb_per_s - alone.goodput_kb_per_s);
  }
  return "";
}

}  // namespace

std::string run_congestion(const Options& options, Report& report) {
  const double seconds = options.quick ? 5 : 120;
  report.workload("link_seconds", seconds);
  report.workload("delay_each_way_ms", 25);
  report.workload("pump_ms", 5);
  report.workload("queue_bytes", static_cast<double>(kQueueBytes));
  report.workload("unlimited_offers_bytes_per_s", static_cast<double>(kUnlimitedBytesPerS));
  std::vector<Link> links = made_up_links(static_cast<uint32_t>(seconds));
  if (!options.traces.empty()) {
    if (std::string problem = read_traces(options.traces, &links); !problem.empty()) return problem;
  }
  for (const Link& link : links) {
    if (std::string problem = measure_link(link, seconds, report); !problem.empty()) return problem;
  }
  if (std::string problem = measure_transfers(options.quick, report); !problem.empty()) return problem;
  if (std::string problem = measure_rare_pumps(options.quick, report); !problem.empty()) return problem;
  if (std::string problem = measure_jitter(seconds, report); !problem.empty()) return problem;
  return measure_mixed(seconds, report);
}

}  // namespace bench
