// The page's server: static files, and WebSockets at /ws, on the loopback interface only.
//
// A browser on this machine also runs other people's pages, so a request must come from our own page. Host,
// and Origin where there is one, have to name a loopback address: that stops DNS rebinding. Messages are
// limited to 4 KiB; http_server.h has the other bounds. No other page may frame ours.
//
// At most 64 viewers; one that answers no ping for 30 s is closed, and one that reads too slowly misses states.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace app {

class WebHandler {
 public:
  /// The first message to each new viewer.
  virtual std::string hello() = 0;
  /// A text message from a viewer. Its content is not trusted.
  virtual void viewer_message(std::string_view text) = 0;
  /// The last viewer left, so nobody holds a key any more.
  virtual void viewers_gone() = 0;

 protected:
  ~WebHandler() = default;
};

class WebServer {
 public:
  WebServer(std::string page_dir, WebHandler& handler);
  ~WebServer();

  /// Listens on 127.0.0.1:port; 0 takes any free port. Returns "", or one sentence of cause and one of
  /// action.
  std::string start(uint16_t port);
  uint16_t port() const;
  size_t viewer_count() const;
  /// Serves requests for `ms` milliseconds.
  void run_for_ms(uint32_t ms);
  void broadcast(const std::string& message);
  /// Closes every connection.
  void stop();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The file that a request target names, relative to the page folder; "" when the target can name none.
std::string page_file_of(std::string_view target);

}  // namespace app
