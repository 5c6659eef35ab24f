#include "child.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include "udp_counters.h"

namespace bench {
namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr size_t kMaxDescriptors = 8;
constexpr int kAboveAll = 64;  // no child is given a descriptor of this number or more

void become(const ChildPlan& plan, const std::vector<char*>& argv, const std::vector<char*>& envp) {
  // If the bench dies, its server must end too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (plan.cpu >= 0) pin_self(plan.cpu);
  // Copied to high numbers first: a descriptor may have the number that another one is to get.
  std::array<int, kMaxDescriptors> copies{};
  const size_t count = std::min(plan.descriptors.size(), copies.size());
  for (size_t i = 0; i < count; ++i) copies[i] = fcntl(plan.descriptors[i].first, F_DUPFD_CLOEXEC, kAboveAll);
  for (size_t i = 0; i < count; ++i) dup2(copies[i], plan.descriptors[i].second);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

bool Child::start(const ChildPlan& plan) {
  std::vector<std::string> arguments = plan.arguments;
  std::vector<std::string> environment = plan.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  pid_ = fork();
  if (pid_ == 0) become(plan, argv, envp);
  return pid_ > 0;
}

bool Child::running() {
  if (pid_ <= 0) return false;
  if (waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void Child::stop() {
  if (!running()) return;
  kill(pid_, SIGTERM);
  for (const uint64_t until_ns = monotonic_ns() + kPatienceNs; monotonic_ns() < until_ns;) {
    if (!running()) return;
    sleep_s(0.01);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

double Child::cpu_ms() const {
  const std::string tasks = "/proc/" + std::to_string(pid_) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(tasks.c_str()), closedir);
  if (!folder) return 0;
  double total_ms = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    double ran_ns = 0;
    std::ifstream(tasks + "/" + entry->d_name + "/schedstat") >> ran_ns;
    total_ms += ran_ns / 1e6;
  }
  return total_ms;
}

double Child::rss_kb() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

std::string build_folder() {
  return std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().string();
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_self(int cpu) {
  pin_self({&cpu, 1});
}

void pin_self(std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void sleep_s(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec time = {whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  nanosleep(&time, nullptr);
}

UdpCounter::UdpCounter() {
  fd_ = memfd_create("udp-counters", MFD_CLOEXEC);
  if (fd_ < 0 || ftruncate(fd_, sizeof(UdpCounters)) != 0) return;
  void* page = mmap(nullptr, sizeof(UdpCounters), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (page != MAP_FAILED) page_ = page;
}

UdpCounter::~UdpCounter() {
  if (page_ != nullptr) munmap(page_, sizeof(UdpCounters));
  if (fd_ >= 0) close(fd_);
}

void UdpCounter::attach(ChildPlan& plan, const std::string& library) const {
  plan.environment.push_back("LD_PRELOAD=" + library);
  plan.environment.push_back(std::string(kUdpCounterVariable) + "=" + std::to_string(kUdpCounterDescriptor));
  plan.descriptors.emplace_back(fd_, kUdpCounterDescriptor);
}

UdpTraffic UdpCounter::read() const {
  if (page_ == nullptr) return {};
  const auto& c = *static_cast<const UdpCounters*>(page_);
  return {c.send_calls.load(),         c.sent_datagrams.load(), c.sent_bytes.load(), c.receive_calls.load(),
          c.received_datagrams.load(), c.received_bytes.load(), c.send_ns.load(),    c.receive_ns.load()};
}

void UdpCounter::trace(bool on) {
  if (page_ == nullptr) return;
  auto& c = *static_cast<UdpCounters*>(page_);
  if (on) c.run_count.store(0);
  c.traces.store(on ? 1 : 0);
}

}  // namespace bench
