// An HTTP server for pages and figures: bounded in everything that a visitor decides.
//
// Headers are limited to 8 KiB, and no request has a body. At most 64 connections wait for a request or for its answer,
// 15 s each; beyond them the one that has waited longest is closed, so idle connections keep nobody out.
//
// Only the files that serve HTTP include this header: Boost.Beast is heavy to compile.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace app {

using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;
using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// An answer that nobody stores, and whose type no browser guesses.
HttpResponse respond(const HttpRequest& request, boost::beast::http::status status, const char* type,
                     std::string content);

inline std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

class HttpServer {
 public:
  /// `io` runs the server. It outlives the server, and does not run any more then.
  explicit HttpServer(boost::asio::io_context& io) : io_(io) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns "", or why it cannot listen there, as the system says it.
  std::string listen(const boost::asio::ip::tcp::endpoint& address);
  bool is_listening() const { return acceptor_.has_value(); }
  boost::asio::ip::tcp::endpoint address() const { return acceptor_->local_endpoint(); }
  /// Takes no more connections.
  void close();

 protected:
  static constexpr size_t kMaxConnections = 64;
  ~HttpServer() = default;

  virtual HttpResponse answer(const HttpRequest& request) = 0;
  /// May take the connection for something else than HTTP. Returns false when it did not.
  virtual bool take_over(const HttpRequest&, boost::beast::tcp_stream&) { return false; }

 private:
  class Visitor;
  void accept();

  boost::asio::io_context& io_;
  /// The one that has waited longest first. Each visitor has a share: `io` may destroy it after this.
  std::shared_ptr<std::list<Visitor*>> visitors_ = std::make_shared<std::list<Visitor*>>();
  std::optional<boost::asio::ip::tcp::acceptor> acceptor_;
  boost::asio::steady_timer pause_{io_};
};

}  // namespace app
