#include "web_server.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>

#include <boost/beast/websocket.hpp>

#include "http/http_server.h"
#include "http/loopback_host.h"
#include "process.h"

namespace app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

constexpr size_t kMaxViewers = 64;
constexpr size_t kMessageBytes = 4096;
constexpr size_t kQueuedMessages = 4;
constexpr auto kRequestTimeout = std::chrono::seconds(15);
constexpr auto kViewerIdle = std::chrono::seconds(30);

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

/// Returns "", or why the request is not from our own page.
const char* refusal_of(const HttpRequest& request) {
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

struct WebServer::Impl {
  class Http final : public HttpServer {
   public:
    explicit Http(Impl& impl) : HttpServer(impl.io), impl_(impl) {}

   private:
    HttpResponse answer(const HttpRequest& request) override;
    bool take_over(const HttpRequest& request, beast::tcp_stream& stream) override;
    Impl& impl_;
  };

  Impl(std::string dir, WebHandler& h) : page_dir(std::move(dir)), handler(h) {}

  std::string page_dir;
  WebHandler& handler;
  size_t viewers_joining = 0;  // of those whose WebSocket is not open yet
  asio::io_context io{1};      // destroyed before the members above, which its handlers use
  std::set<std::shared_ptr<Viewer>> viewers;
  Http http{*this};
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

  void start(const HttpRequest& request) {
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

bool WebServer::Impl::Http::take_over(const HttpRequest& request, beast::tcp_stream& stream) {
  if (*refusal_of(request) != 0 || !websocket::is_upgrade(request)) return false;
  if (request.target() != "/ws" || impl_.viewers.size() + impl_.viewers_joining >= kMaxViewers) return false;
  std::make_shared<Viewer>(impl_, std::move(stream))->start(request);
  return true;
}

HttpResponse WebServer::Impl::Http::answer(const HttpRequest& request) {
  const auto with = [&request](http::status status, const char* type, std::string content) {
    HttpResponse response = respond(request, status, type, std::move(content));
    response.set("Content-Security-Policy",
                 "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
                 "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    return response;
  };
  if (const char* refusal = refusal_of(request); *refusal != 0) {
    return with(http::status::forbidden, "text/plain", refusal);
  }
  if (websocket::is_upgrade(request)) {
    return with(http::status::not_found, "text/plain", "There is no such socket.");
  }
  const std::string file = page_file_of(view_of(request.target()));
  std::string content;
  if (file.empty() || !read_whole_file(impl_.page_dir + "/" + file, content)) {
    return with(http::status::not_found, "text/plain", "There is no such file.");
  }
  return with(http::status::ok, content_type(file), std::move(content));
}

WebServer::WebServer(std::string page_dir, WebHandler& handler)
    : impl_(std::make_unique<Impl>(std::move(page_dir), handler)) {}

WebServer::~WebServer() {
  stop();
}

std::string WebServer::start(uint16_t port) {
  const std::string why = impl_->http.listen({asio::ip::address_v4::loopback(), port});
  if (why.empty()) return "";
  return "Cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + why +
         ". Choose another with --port, or leave it out for any free one.";
}

uint16_t WebServer::port() const {
  return impl_->http.address().port();
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
  if (!impl_->http.is_listening()) return;
  impl_->http.close();
  for (const auto& viewer : impl_->viewers) viewer->close();
  run_for_ms(50);
  impl_->viewers.clear();
}

}  // namespace app
