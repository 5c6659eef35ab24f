#include "http/http_server.h"

#include <chrono>
#include <utility>

#include "process.h"

namespace app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr uint32_t kHeaderBytes = 8192;
constexpr auto kRequestTimeout = std::chrono::seconds(15);
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

HttpResponse respond(const HttpRequest& request, http::status status, const char* type, std::string content) {
  HttpResponse response(status, request.version());
  response.set(http::field::content_type, type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.keep_alive(request.keep_alive());
  const uint64_t size = content.size();
  if (request.method() != http::verb::head) response.body() = std::move(content);
  response.content_length(size);
  return response;
}

/// One HTTP connection, until it ends or is taken over.
class HttpServer::Visitor : public std::enable_shared_from_this<Visitor> {
 public:
  Visitor(HttpServer& server, tcp::socket socket)
      : server_(server),
        stream_(std::move(socket)),
        all_(server.visitors_),
        place_(all_->insert(all_->end(), this)) {}
  ~Visitor() { all_->erase(place_); }

  void close() { stream_.close(); }

  void read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    stream_.expires_after(kRequestTimeout);
    all_->splice(all_->end(), *all_, place_);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code error, size_t) {
                              if (!error) self->take();
                            });
  }

 private:
  /// A request has no body: nothing bounds the extensions and trailers of chunks.
  void take() {
    const auto bytes = parser_->content_length();
    const bool has_body = parser_->chunked() || (bytes && *bytes != 0);
    HttpRequest request = parser_->release();
    if (has_body) request.keep_alive(false);
    const bool is_read = request.method() == http::verb::get || request.method() == http::verb::head;
    if (request.count(http::field::host) > 1) {
      send(respond(request, http::status::bad_request, "text/plain", "A request has one Host."));
    } else if (has_body) {
      send(respond(request, http::status::bad_request, "text/plain", "A request has no body here."));
    } else if (!is_read) {
      send(respond(request, http::status::method_not_allowed, "text/plain", "Only GET and HEAD."));
    } else if (!server_.take_over(request, stream_)) {
      send(server_.answer(request));
    }
  }

  void send(HttpResponse response) {
    response_.emplace(std::move(response));
    http::async_write(stream_, *response_, [self = shared_from_this()](beast::error_code error, size_t) {
      if (!error && self->response_->keep_alive()) return self->read();
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  HttpServer& server_;
  beast::tcp_stream stream_;
  std::shared_ptr<std::list<Visitor*>> all_;
  std::list<Visitor*>::iterator place_;
  beast::flat_buffer buffer_{2 * kHeaderBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<HttpResponse> response_;
};

void HttpServer::accept() {
  acceptor_->async_accept([this](beast::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {  // Such as no descriptor free: it is so for a while.
      pause_.expires_after(kPause);
      return pause_.async_wait([this](beast::error_code stopped) {
        if (!stopped) accept();
      });
    }
    close_on_exec(socket.native_handle());
    // Whoever has kept its connection longest without a request makes room: idle connections keep nobody out.
    if (visitors_->size() >= kMaxConnections) visitors_->front()->close();
    if (visitors_->size() < 2 * kMaxConnections) std::make_shared<Visitor>(*this, std::move(socket))->read();
    accept();
  });
}

std::string HttpServer::listen(const tcp::endpoint& address) {
  beast::error_code error;
  acceptor_.emplace(io_);
  acceptor_->open(address.protocol(), error);
  if (!error) close_on_exec(acceptor_->native_handle());  // Asio lets every child inherit its sockets
  if (!error) acceptor_->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_->bind(address, error);
  if (!error) acceptor_->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    acceptor_.reset();
    return error.message();
  }
  accept();
  return "";
}

void HttpServer::close() {
  beast::error_code ignored;
  if (acceptor_) acceptor_->close(ignored);
  pause_.cancel();
}

}  // namespace app
