// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_peeks.h"

#include <algorithm>
#include <utility>

#include "daemon/mailbox/bus_budget.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {
namespace {

PeekQueue::Price PriceOf(const PeekQuery& query, const DeviceInfo& info) {
  PeekQueue::Price price{.share = info.peek_bus_share};
  // A virtual bus without a configured speed: what a peek has taken is known afterwards. So is what narrower windows
  // have cost beyond this.
  if (info.bus_hz != 0) price.time = PeekTime(query, info.bus_hz, mailbox::kWindowBytes);
  return price;
}

// Each snapshot would interrupt what takes longer than the time between two of them, which is at most what the shortest
// snapshot leaves of the interval.
absl::Status CheckFits(const PeekQuery& query, const DeviceInfo& info, const DeviceSnapshot* newest) {
  if (info.bus_hz == 0) return absl::OkStatus();
  const absl::Duration lead = PeekLeadTime(query, info.bus_hz, mailbox::kWindowBytes);
  absl::Duration between = info.interval;
  if (newest != nullptr) between -= BudgetOf(*newest->topology, info.bus_hz, mailbox::kWindowBytes).least;
  if (lead == absl::ZeroDuration() || lead < between) return absl::OkStatus();
  return absl::InvalidArgumentError("events: of more extends than can be read between two snapshots");
}

}  // namespace

DevicePeeks::DevicePeeks(size_t device, MailboxSession& session, Parts parts)
    : device_(device),
      parts_(std::move(parts)),
      name_(parts_.store.Info(device)->name),
      peeker_(session, parts_.clock, [this] { parts_.metrics.PeekRetry(name_); }),
      queue_(parts_.clock) {}

absl::StatusOr<uint64_t> DevicePeeks::Enqueue(PeekQuery query, LiveReader::Done done) {
  // Read anew: a reload may have changed the share.
  const auto info = parts_.store.Info(device_);
  if (info == nullptr) return queue_.Add(std::move(query), {}, std::move(done));
  SIDEBAND_RETURN_IF_ERROR(CheckFits(query, *info, parts_.store.Newest(device_).get()));
  const PeekQueue::Price price = PriceOf(query, *info);
  return queue_.Add(std::move(query), price, std::move(done));
}

absl::StatusOr<uint64_t> DevicePeeks::Ask(PeekQuery query, LiveReader::Done done) {
  const auto counted = [this, done = std::move(done)](const absl::StatusOr<PeekedBlock>& peeked) {
    parts_.metrics.Peek(name_, peeked.status().code());
    done(peeked);
  };
  auto number = Enqueue(std::move(query), counted);
  if (number.ok()) {
    parts_.wake();
  } else {
    parts_.metrics.Peek(name_, number.status().code());
  }
  return number;
}

bool DevicePeeks::Withdraw(uint64_t number) {
  const bool is_withdrawn = queue_.Remove(number);
  if (is_withdrawn) parts_.metrics.Peek(name_, absl::StatusCode::kCancelled);
  return is_withdrawn;
}

void DevicePeeks::Answer(PeekQueue::Peek peek, absl::Duration due) {
  const absl::Duration start = parts_.clock.Steady();
  const auto peeked = peeker_.Peek(peek.query, due);
  const absl::Duration took = parts_.clock.Steady() - start;
  parts_.metrics.PeekDuration(name_, took);
  if (peeked.status() == GaveWay()) return queue_.PutBack(std::move(peek), took);
  // A virtual bus is faster than the clock that it is configured to have.
  queue_.Settle(peek, std::max(took, peek.charge.cost));
  peek.done(peeked);
}

absl::Status DevicePeeks::CheckReadable(bool is_readable) const {
  return is_readable ? peeker_.CheckSupport() : absl::UnavailableError("the device cannot be read now");
}

bool DevicePeeks::AnswerNext(bool is_readable, absl::Duration due) {
  auto peek = queue_.Take();
  if (!peek) return false;
  const absl::Status readable = CheckReadable(is_readable);
  if (readable.ok()) {
    Answer(*std::move(peek), due);
  } else {
    queue_.Settle(*peek, absl::ZeroDuration());
    peek->done(readable);
  }
  return true;
}

}  // namespace sideband::daemon
