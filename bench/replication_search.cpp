#include "replication_search.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kFirstStride = 1.4, kLaterStride = 1.08;
constexpr double kPrecision = 1.03;

}  // namespace

double LargestCrowd::largest(const std::function<bool(uint32_t clients)>& carries) {
  double good = 0, bad = 0;
  const auto attempt = [&](double clients) {
    (carries(static_cast<uint32_t>(clients)) ? good : bad) = clients;
  };
  const double stride = found_ ? kLaterStride : kFirstStride;
  for (double next = guess_; good == 0 || bad == 0;) {
    attempt(next);
    if (good >= most_ || (bad != 0 && bad <= least_)) break;
    next = good != 0 && bad == 0 ? std::min(good * stride, most_) : std::max(bad / stride, least_);
  }
  while (good != 0 && bad > kPrecision * good) attempt(std::round((good + bad) / 2));
  found_ = good != 0;
  if (found_) guess_ = std::floor(good);
  return std::floor(good);
}

}  // namespace bench
