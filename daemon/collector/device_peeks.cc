// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_peeks.h"

#include <algorithm>
#include <utility>

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

}  // namespace

DevicePeeks::DevicePeeks(size_t device, MailboxSession& session, Parts parts)
    : device_(device),
      parts_(std::move(parts)),
      name_(parts_.store.Info(device)->name),
      peeker_(session, parts_.clock, [this] { parts_.metrics.PeekRetry(name_); }),
      queue_(parts_.clock) {}

absl::StatusOr<uint64_t> DevicePeeks::Ask(PeekQuery query, LiveReader::Done done) {
  // Read anew: a reload may have changed the share.
  const auto info = parts_.store.Info(device_);
  const PeekQueue::Price price = info == nullptr ? PeekQueue::Price() : PriceOf(query, *info);
  const auto counted = [this, done = std::move(done)](const absl::StatusOr<PeekedBlock>& peeked) {
    parts_.metrics.Peek(name_, peeked.status().code());
    done(peeked);
  };
  auto number = queue_.Add(std::move(query), price, counted);
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

absl::StatusOr<PeekedBlock> DevicePeeks::Read(const PeekQueue::Peek& peek) {
  const absl::Duration start = parts_.clock.Steady();
  auto peeked = peeker_.Peek(peek.query);
  const absl::Duration took = parts_.clock.Steady() - start;
  // A virtual bus is faster than the clock that it is configured to have.
  queue_.Settle(peek, std::max(took, peek.charge.cost));
  parts_.metrics.PeekDuration(name_, took);
  return peeked;
}

absl::Status DevicePeeks::CheckReadable(bool is_readable) const {
  return is_readable ? peeker_.CheckSupport() : absl::UnavailableError("the device cannot be read now");
}

bool DevicePeeks::AnswerNext(bool is_readable) {
  const auto peek = queue_.Take();
  if (!peek) return false;
  const absl::Status readable = CheckReadable(is_readable);
  if (readable.ok()) {
    peek->done(Read(*peek));
  } else {
    queue_.Settle(*peek, absl::ZeroDuration());
    peek->done(readable);
  }
  return true;
}

}  // namespace sideband::daemon
