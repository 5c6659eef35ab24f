#include "admin/admin_server.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "http/http_server.h"
#include "http/loopback_host.h"
#include "process.h"

namespace app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr uint64_t kSilenceNs = 2'000'000'000;
constexpr std::string_view kBearer = "Bearer ";

/// Takes as long for every wrong token of a length.
bool is_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

bool parse(const std::string& text, tcp::endpoint& out) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  beast::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error || port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const unsigned long number = std::stoul(port);
  out = {address, static_cast<uint16_t>(number)};
  return number <= UINT16_MAX;
}

}  // namespace

struct AdminServer::Impl {
  class Http final : public HttpServer {
   public:
    explicit Http(Impl& impl) : HttpServer(impl.io), impl_(impl) {}

   private:
    HttpResponse answer(const HttpRequest& request) override;
    HttpResponse answer_state(const HttpRequest& request, bool wants_ready);
    const char* refusal_of(const HttpRequest& request) const;
    Impl& impl_;
  };

  std::string token;
  std::atomic<uint64_t> beat_ns{0};
  std::mutex mutex;  // of the next four
  bool is_ready = false;
  std::string why_not = "it starts";
  std::string config;
  Figures figures;

  asio::io_context io{1};
  Http http{*this};
  std::string address;
  std::thread thread;
};

const char* AdminServer::Impl::Http::refusal_of(const HttpRequest& request) const {
  if (impl_.token.empty()) {
    return is_loopback_host(view_of(request[http::field::host])) ? "" : "Host is not a loopback address.\n";
  }
  const std::string_view given = view_of(request[http::field::authorization]);
  const bool is_right = given.starts_with(kBearer) && is_equal(given.substr(kBearer.size()), impl_.token);
  return is_right ? "" : "Authorization is not the bearer token of this port.\n";
}

HttpResponse AdminServer::Impl::Http::answer_state(const HttpRequest& request, bool wants_ready) {
  const uint64_t now_ns = monotonic_ns();
  const uint64_t heard_ns = impl_.beat_ns.load(std::memory_order_relaxed);
  const uint64_t silent_ns = now_ns > heard_ns ? now_ns - heard_ns : 0;
  if (silent_ns > kSilenceNs) {
    char text[64];
    std::snprintf(text, sizeof text, "no work was done for %.1f s\n", static_cast<double>(silent_ns) / 1e9);
    return respond(request, http::status::service_unavailable, "text/plain", text);
  }
  const std::lock_guard lock(impl_.mutex);
  if (!wants_ready || impl_.is_ready) return respond(request, http::status::ok, "text/plain", "ok\n");
  return respond(request, http::status::service_unavailable, "text/plain", impl_.why_not + "\n");
}

HttpResponse AdminServer::Impl::Http::answer(const HttpRequest& request) {
  if (const char* refusal = refusal_of(request); *refusal != 0) {
    const auto status = impl_.token.empty() ? http::status::forbidden : http::status::unauthorized;
    return respond(request, status, "text/plain", refusal);
  }
  const std::string_view target = view_of(request.target());
  if (target == "/live") return answer_state(request, false);
  if (target == "/ready") return answer_state(request, true);
  if (target == "/metrics") {
    Figures published;
    {
      const std::lock_guard lock(impl_.mutex);
      published = impl_.figures;
    }
    add_process_figures(published);
    return respond(request, http::status::ok, "text/plain; version=0.0.4; charset=utf-8",
                   to_prometheus_text(published));
  }
  if (target == "/config") {
    const std::lock_guard lock(impl_.mutex);
    return respond(request, http::status::ok, "application/json", impl_.config + "\n");
  }
  return respond(request, http::status::not_found, "text/plain",
                 "There are /live, /ready, /metrics and /config.\n");
}

AdminServer::AdminServer() : impl_(std::make_unique<Impl>()) {}

AdminServer::~AdminServer() {
  impl_->io.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

std::string AdminServer::check(const std::string& address, const std::string& token) {
  tcp::endpoint endpoint;
  if (!parse(address, endpoint)) {
    return "'" + address +
           "' is not an address for the admin port. Give one such as 127.0.0.1:27115, or 'off'.";
  }
  if (token.empty() && !endpoint.address().is_loopback()) {
    return "The admin port at " + address +
           " can be reached from elsewhere. Give it a token with --admin-token-file, or a loopback address.";
  }
  return "";
}

std::string AdminServer::start(const std::string& address, const std::string& token,
                               const std::string& config) {
  tcp::endpoint endpoint;
  if (std::string problem = check(address, token); !problem.empty() || !parse(address, endpoint)) return problem;
  if (const std::string why = impl_->http.listen(endpoint); !why.empty()) {
    return "The admin port cannot listen on " + address + ": " + why +
           ". Give another with --admin, or 'off'.";
  }
  impl_->token = token;
  impl_->config = config;
  const tcp::endpoint bound = impl_->http.address();
  const std::string host = bound.address().to_string();
  impl_->address = (bound.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(bound.port());
  beat(monotonic_ns());
  // Signals are for the thread that does the work.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl_->thread = std::thread([impl = impl_.get()] { impl->io.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return "";
}

std::string AdminServer::address() const {
  return impl_->address;
}

void AdminServer::beat(uint64_t now_ns) {
  impl_->beat_ns.store(now_ns, std::memory_order_relaxed);
}

void AdminServer::set_ready(bool is_ready, const std::string& why) {
  const std::lock_guard lock(impl_->mutex);
  impl_->is_ready = is_ready;
  impl_->why_not = why;
}

void AdminServer::set_config(const std::string& config) {
  const std::lock_guard lock(impl_->mutex);
  impl_->config = config;
}

void AdminServer::publish(Figures figures) {
  const std::lock_guard lock(impl_->mutex);
  std::swap(impl_->figures, figures);
}

}  // namespace app
