// The page's server: static files and one WebSocket at /ws, on the loopback interface only.
//
// A browser on this machine will also run other people's pages, so requests must come from our own: Host,
// and Origin where there is one, have to name a loopback address (DNS rebinding). Headers are limited to
// 8 KiB, messages to 4 KiB, connections to 64; a viewer that reads too slowly misses states.
//
// web_server.cpp is the only file that includes Boost.Beast.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace app {

class WebHandler {
 public:
  /// The first message of each new viewer.
  virtual std::string hello() = 0;
  /// A text message of a viewer; hostile until proven otherwise.
  virtual void viewer_message(std::string_view text) = 0;
  /// The last viewer left: nobody holds a key any more.
  virtual void viewers_gone() = 0;

 protected:
  ~WebHandler() = default;
};

class WebServer {
 public:
  WebServer(std::string page_dir, WebHandler& handler);
  ~WebServer();

  /// Listens on 127.0.0.1:port; 0: any free port. "" or one sentence of cause and one of action.
  std::string start(uint16_t port);
  uint16_t port() const;
  size_t viewer_count() const;
  /// Serves for this long.
  void run_for_ms(uint32_t ms);
  void broadcast(const std::string& message);
  /// Closes every connection.
  void stop();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// True when an HTTP Host value ("127.0.0.1:8000") names this machine's loopback. Exposed for its test.
bool is_loopback_host(std::string_view host);
/// The file a request target names, relative to the page folder; "" when there can be none.
std::string page_file_of(std::string_view target);

}  // namespace app
