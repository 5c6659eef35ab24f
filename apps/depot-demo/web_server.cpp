#include "web_server.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include "process.h"

namespace app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;

constexpr size_t kMaxConnections = 64;
constexpr uint32_t kHeaderBytes = 8192;
constexpr uint64_t kBodyBytes = 1024;
constexpr size_t kMessageBytes = 4096;
constexpr size_t kQueuedMessages = 4;
constexpr auto kRequestTimeout = std::chrono::seconds(15);
constexpr auto kViewerIdle = std::chrono::seconds(30);

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;
using Message = std::shared_ptr<const std::string>;

const char* content_type(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".js") || file.ends_with(".mjs")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".json")) return "application/json";
  if (file.ends_with(".svg")) return "image/svg+xml";
  if (file.ends_with(".png")) return "image/png";
  return "application/octet-stream";
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

/// Returns "", or why the request is not from our own page.
const char* refusal_of(const Request& request) {
  if (!is_loopback_host(view_of(request[http::field::host]))) return "Host is not a loopback address.";
  const std::string_view origin = view_of(request[http::field::origin]);
  if (origin.empty()) return "";
  static constexpr std::string_view kScheme = "http://";
  if (!origin.starts_with(kScheme) || origin.substr(kScheme.size()) != view_of(request[http::field::host])) {
    return "Origin is another site.";
  }
  return "";
}

}  // namespace

class Viewer;
class Visitor;

struct WebServer::Impl {
  Impl(std::string dir, WebHandler& h) : page_dir(std::move(dir)), handler(h) {}

  void accept();

  std::string page_dir;
  WebHandler& handler;
  std::list<Visitor*> visitors;  // the one that has waited longest first
  size_t viewers_joining = 0;    // of those whose WebSocket is not open yet
  asio::io_context io{1};        // destroyed before the members above, which its handlers use
  std::optional<tcp::acceptor> acceptor;
  std::set<std::shared_ptr<Viewer>> viewers;
};

/// One viewer: a WebSocket.
class Viewer : public std::enable_shared_from_this<Viewer> {
 public:
  Viewer(WebServer::Impl& server, beast::tcp_stream stream) : server_(server), socket_(std::move(stream)) {
    ++server_.viewers_joining;
  }
  ~Viewer() {
    if (is_joining_) --server_.viewers_joining;
  }

  void start(const Request& request) {
    beast::get_lowest_layer(socket_).expires_never();
    // A ping after half of the idle time: a browser answers by itself, and whoever does not is gone.
    socket_.set_option(websocket::stream_base::timeout{kRequestTimeout, kViewerIdle, true});
    socket_.read_message_max(kMessageBytes);
    socket_.auto_fragment(false);  // sends each message as one frame
    socket_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
      if (error) return;
      self->is_joining_ = false;
      --self->server_.viewers_joining;
      self->server_.viewers.insert(self);
      self->send(std::make_shared<const std::string>(self->server_.handler.hello()));
      self->read();
    });
  }

  void send(Message message) {
    if (queue_.size() >= kQueuedMessages) return;
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) write();
  }

  void close() { beast::get_lowest_layer(socket_).close(); }

 private:
  void read() {
    socket_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, size_t) {
      if (error) return self->leave();
      if (self->socket_.got_text()) {
        const auto data = self->buffer_.data();
        self->server_.handler.viewer_message({static_cast<const char*>(data.data()), data.size()});
      }
      self->buffer_.clear();
      self->read();
    });
  }

  void write() {
    socket_.text(true);
    socket_.async_write(asio::buffer(*queue_.front()),
                        [self = shared_from_this()](beast::error_code error, size_t) {
                          if (error) return self->leave();
                          self->queue_.pop_front();
                          if (!self->queue_.empty()) self->write();
                        });
  }

  void leave() {
    if (server_.viewers.erase(shared_from_this()) > 0 && server_.viewers.empty())
      server_.handler.viewers_gone();
  }

  WebServer::Impl& server_;
  websocket::stream<beast::tcp_stream> socket_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  bool is_joining_ = true;
};

/// One HTTP connection, until it ends or becomes a WebSocket.
class Visitor : public std::enable_shared_from_this<Visitor> {
 public:
  Visitor(WebServer::Impl& server, tcp::socket socket)
      : server_(server),
        stream_(std::move(socket)),
        place_(server.visitors.insert(server.visitors.end(), this)) {}
  ~Visitor() { server_.visitors.erase(place_); }

  void close() { stream_.close(); }

  void read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    parser_->body_limit(kBodyBytes);
    stream_.expires_after(kRequestTimeout);
    server_.visitors.splice(server_.visitors.end(), server_.visitors, place_);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, size_t) {
                       if (!error) self->answer(self->parser_->release());
                     });
  }

 private:
  void answer(Request request) {
    if (const char* refusal = refusal_of(request); *refusal != 0) {
      return send(respond(request, http::status::forbidden, "text/plain", refusal));
    }
    if (websocket::is_upgrade(request)) {
      if (request.target() != "/ws" || server_.viewers.size() + server_.viewers_joining >= kMaxConnections) {
        return send(respond(request, http::status::not_found, "text/plain", "There is no such socket."));
      }
      return std::make_shared<Viewer>(server_, std::move(stream_))->start(request);
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return send(respond(request, http::status::method_not_allowed, "text/plain", "Only GET and HEAD."));
    }
    const std::string file = page_file_of(view_of(request.target()));
    std::string content;
    if (file.empty() || !read_whole_file(server_.page_dir + "/" + file, content)) {
      return send(respond(request, http::status::not_found, "text/plain", "There is no such file."));
    }
    send(respond(request, http::status::ok, content_type(file), std::move(content)));
  }

  static Response respond(const Request& request, http::status status, const char* type,
                          std::string content) {
    Response response(status, request.version());
    response.set(http::field::content_type, type);
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Content-Security-Policy",
                 "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
                 "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    response.keep_alive(request.keep_alive());
    const uint64_t size = content.size();
    if (request.method() != http::verb::head) response.body() = std::move(content);
    response.content_length(size);
    return response;
  }

  void send(Response response) {
    response_.emplace(std::move(response));
    http::async_write(stream_, *response_, [self = shared_from_this()](beast::error_code error, size_t) {
      if (!error && self->response_->keep_alive()) return self->read();
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  WebServer::Impl& server_;
  beast::tcp_stream stream_;
  std::list<Visitor*>::iterator place_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<Response> response_;
};

void WebServer::Impl::accept() {
  acceptor->async_accept([this](beast::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) close_on_exec(socket.native_handle());
    if (!error) {
      // Whoever has kept its connection longest without a request makes room: idle connections keep nobody
      // out.
      if (visitors.size() >= kMaxConnections) visitors.front()->close();
      if (visitors.size() < 2 * kMaxConnections) std::make_shared<Visitor>(*this, std::move(socket))->read();
    }
    accept();
  });
}

WebServer::WebServer(std::string page_dir, WebHandler& handler)
    : impl_(std::make_unique<Impl>(std::move(page_dir), handler)) {}

WebServer::~WebServer() {
  stop();
}

std::string WebServer::start(uint16_t port) {
  const tcp::endpoint address(asio::ip::address_v4::loopback(), port);
  beast::error_code error;
  impl_->acceptor.emplace(impl_->io);
  impl_->acceptor->open(address.protocol(), error);
  if (!error) close_on_exec(impl_->acceptor->native_handle());  // Asio lets every child inherit its sockets
  if (!error) impl_->acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) impl_->acceptor->bind(address, error);
  if (!error) impl_->acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return "Cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + error.message() +
           ". Choose another with --port, or leave it out for any free one.";
  }
  impl_->accept();
  return "";
}

uint16_t WebServer::port() const {
  return impl_->acceptor->local_endpoint().port();
}
size_t WebServer::viewer_count() const {
  return impl_->viewers.size();
}

void WebServer::run_for_ms(uint32_t ms) {
  impl_->io.restart();
  impl_->io.run_for(std::chrono::milliseconds(ms));
}

void WebServer::broadcast(const std::string& message) {
  if (impl_->viewers.empty()) return;
  const Message shared = std::make_shared<const std::string>(message);
  for (const auto& viewer : impl_->viewers) viewer->send(shared);
}

void WebServer::stop() {
  if (!impl_->acceptor) return;
  beast::error_code ignored;
  impl_->acceptor->close(ignored);
  for (const auto& viewer : impl_->viewers) viewer->close();
  run_for_ms(50);
  impl_->viewers.clear();
  impl_->acceptor.reset();
}

}  // namespace app
