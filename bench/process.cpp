#include "process.h"

#include <cstdlib>

namespace bench {

Process::Process() = default;

Process::~Process() {
  child_.stop();
  if (go_write_ >= 0) close(go_write_);
}

bool Process::start(std::vector<std::string> arguments, int cpu) {
  ChildPlan plan;
  plan.arguments = std::move(arguments);
  plan.cpu = cpu;
  return start(std::move(plan));
}

bool Process::start(ChildPlan plan) {
  int go[2] = {-1, -1};
  if (pipe2(go, O_CLOEXEC) != 0) return false;
  go_write_ = go[1];
  plan.descriptors.emplace_back(go[0], STDIN_FILENO);
  plan.descriptors.emplace_back(out_.writer(), STDOUT_FILENO);
  const bool started = child_.start(plan);
  close(go[0]);
  out_.close_writer();
  return started;
}

void Process::note(const std::string& line) {
  const size_t space = line.find(' ');
  if (space != std::string::npos) said_[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
}

bool Process::await(const std::string& name, double seconds) {
  return out_.read_for(seconds, [&](const std::string& line) {
    note(line);
    return line.starts_with(name + " ");
  });
}

void Process::go() {
  // A process that has ended is noticed by the await() that follows.
  [[maybe_unused]] const ssize_t written = write(go_write_, "go\n", 3);
}

void Process::finish() {
  child_.stop();
  out_.read_for(1, [&](const std::string& line) { return note(line), false; });
}

double Process::said(const std::string& name) const {
  const auto found = said_.find(name);
  return found == said_.end() ? 0 : found->second;
}

}  // namespace bench
