// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/throttle.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

// Unused shares are dropped when their number has doubled, at least this.
constexpr size_t kSweepMin = 64;
constexpr double kAnswerBytesPerFrame = 1024;

}  // namespace

absl::Duration HolderThrottle::Share::Charge(const Work& work) {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Steady();
  // Both buckets are charged; the longer debt decides.
  return std::max(streams_.Charge(static_cast<double>(work.streams), now),
                  frames_.Charge(static_cast<double>(work.frames), now));
}

void HolderThrottle::Share::CreditAnswer(size_t bytes) {
  absl::MutexLock lock(&mu_);
  frames_.Credit(static_cast<double>(bytes) / kAnswerBytesPerFrame);
}

bool HolderThrottle::Share::CountOpen(ptrdiff_t change) {
  absl::MutexLock lock(&all_.open_mu_);
  all_.open_holders_ -= open_ > 0;
  open_ += change;
  all_.open_ += change;
  all_.open_holders_ += open_ > 0;
  if (change <= 0 || open_ <= 1) return true;
  const Limits& limits = all_.limits_;
  const bool is_crowded = all_.open_ > limits.all_streams_max;
  return open_ <= limits.streams_max && !(is_crowded && open_ > limits.all_streams_max / all_.open_holders_);
}

bool HolderThrottle::Share::IsFull() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Steady();
  return streams_.IsFull(now) && frames_.IsFull(now);
}

std::shared_ptr<HolderThrottle::Share> HolderThrottle::ShareOf(const std::string& holder) {
  absl::MutexLock lock(&mu_);
  if (shares_.size() >= sweep_at_) DropUnused();
  std::shared_ptr<Share>& share = shares_[holder];
  if (share == nullptr) share.reset(new Share(*this, limits_, clock_));
  return share;
}

void HolderThrottle::DropUnused() {
  // A full share equals a new one. A share in debt is kept, so that reconnecting does not cancel the debt.
  absl::erase_if(shares_, [](const auto& item) { return item.second.use_count() == 1 && item.second->IsFull(); });
  // Doubling makes the cost of all sweeps proportional to the number of new holders.
  sweep_at_ = std::max(kSweepMin, 2 * shares_.size());
}

size_t HolderThrottle::size() const {
  absl::MutexLock lock(&mu_);
  return shares_.size();
}

}  // namespace sideband::daemon
