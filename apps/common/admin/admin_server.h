// The admin port: what an operator's tools ask a running program, over HTTP.
//
//   /live     200 while the program does its work: it was heard of in the last 2 s; else 503
//   /ready    200 while it is live and takes newcomers; else 503. Both say why
//   /metrics  the figures of the last second, in the text format of Prometheus
//   /config   every setting, its value and where it comes from. No setting holds a secret: keys and tokens
//             are in files, whose names are shown
//
// It listens on loopback addresses; elsewhere only with a token, which a request then brings as
// "Authorization: Bearer TOKEN". It has a thread of its own: no visitor costs the program's work time, and a
// program that hangs still answers, with 503. http_server.h has the bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "admin/figures.h"

namespace app {

class AdminServer {
 public:
  AdminServer();
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// Returns "", or what is wrong with the settings of a port.
  static std::string check(const std::string& address, const std::string& token);
  /// Listens on `address` ("127.0.0.1:27115"; port 0: any free one). `token` "" is for loopback only. `config`
  /// is JSON. Returns "", or a text that says what is wrong and what to do.
  std::string start(const std::string& address, const std::string& token, const std::string& config);
  /// "127.0.0.1:27115", with the port that it has.
  std::string address() const;

  // From the thread that does the program's work:
  /// It works.
  void beat(uint64_t now_ns);
  /// Whether newcomers are taken; if not, `why` says why.
  void set_ready(bool is_ready, const std::string& why);
  void set_config(const std::string& config);
  void publish(Figures figures);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace app
