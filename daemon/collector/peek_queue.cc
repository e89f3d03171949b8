// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/peek_queue.h"

#include <algorithm>
#include <utility>

#include "daemon/collector/bus_share.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

namespace {

absl::Status Overdue() { return absl::DeadlineExceededError("the device's bus was busy for too long"); }
absl::Status NotRead() { return absl::UnavailableError("the device is no longer read"); }

}  // namespace

absl::Status PeekQueue::CheckRoom(size_t asker) const {
  const auto of_asker = std::ranges::count(waiting_, asker, [](const Peek& peek) { return peek.query.asker; });
  if (waiting_.size() < kWaitingMax && static_cast<size_t>(of_asker) < kWaitingOfAskerMax) return absl::OkStatus();
  return Exhausted("too many peeks wait for the device's bus", BusShare::kBurst);
}

absl::StatusOr<uint64_t> PeekQueue::Add(PeekQuery query, const Price& price, LiveReader::Done done) {
  if (price.share <= 0) return absl::FailedPreconditionError("peeks are switched off");
  const absl::Duration now = clock_.Steady();
  absl::MutexLock lock(&mu_);
  if (is_closed_) return NotRead();
  SIDEBAND_RETURN_IF_ERROR(CheckRoom(query.asker));
  FairShare::Charge charge{.asker = query.asker, .of = price.share, .cost = price.time};
  const absl::Duration wait = share_.Take(charge, now);
  if (wait > absl::ZeroDuration()) return Exhausted("the bus time for peeks of the device is used up", wait);
  waiting_.push_back({++last_number_, std::move(query), charge, std::move(done), now + kWaitMax});
  return last_number_;
}

bool PeekQueue::Remove(uint64_t number) {
  Peek removed;  // destroyed without the lock: its `done` may own a call
  absl::MutexLock lock(&mu_);
  const auto found = std::ranges::find(waiting_, number, &Peek::number);
  if (found == waiting_.end()) return false;
  removed = std::move(*found);
  waiting_.erase(found);
  share_.Settle(removed.charge, absl::ZeroDuration());
  return true;
}

std::optional<PeekQueue::Peek> PeekQueue::Pop() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  std::optional<Peek> peek = std::move(waiting_.front());
  waiting_.pop_front();
  return peek;
}

std::vector<PeekQueue::Peek> PeekQueue::PopOverdue() {
  std::vector<Peek> overdue;
  absl::MutexLock lock(&mu_);
  // The usual case, at each transaction of the bus.
  if (waiting_.empty()) return overdue;
  const absl::Duration now = clock_.Steady();
  for (auto peek = waiting_.begin(); peek != waiting_.end();) {
    if (now <= peek->give_up_at) {
      ++peek;
      continue;
    }
    share_.Settle(peek->charge, absl::ZeroDuration());
    overdue.push_back(std::move(*peek));
    peek = waiting_.erase(peek);
  }
  return overdue;
}

void PeekQueue::GiveUpOverdue() {
  for (const Peek& peek : PopOverdue()) {
    peek.done(Overdue());
  }
}

std::optional<PeekQueue::Peek> PeekQueue::Take() {
  GiveUpOverdue();
  return Pop();
}

void PeekQueue::Settle(const Peek& peek, absl::Duration actual) {
  absl::MutexLock lock(&mu_);
  share_.Settle(peek.charge, actual);
}

absl::Status PeekQueue::WaitAgain(Peek& peek, absl::Duration used) {
  absl::MutexLock lock(&mu_);
  const bool is_last = ++peek.begins == kBeginsMax;
  share_.Settle(peek.charge, used + (is_last ? absl::ZeroDuration() : peek.charge.cost));
  if (is_closed_) return NotRead();
  if (is_last) return Overdue();
  waiting_.push_back(std::move(peek));
  return absl::OkStatus();
}

void PeekQueue::PutBack(Peek peek, absl::Duration used) {
  const absl::Status status = WaitAgain(peek, used);
  if (!status.ok()) peek.done(status);
}

void PeekQueue::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  while (const auto peek = Pop()) peek->done(NotRead());
}

}  // namespace sideband::daemon
