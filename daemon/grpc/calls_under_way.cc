// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/calls_under_way.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

// Answers are read in less, unless nobody reads them.
constexpr absl::Duration kCallRetryAfter = absl::Seconds(1);

absl::Status Full(absl::string_view why) { return WithRetryAfter(absl::ResourceExhaustedError(why), kCallRetryAfter); }

absl::Status TooManyBytes() { return Full("too many bytes of earlier answers are unread"); }

}  // namespace

absl::StatusOr<std::unique_ptr<CallsUnderWay::Share>> CallsUnderWay::Begin(const std::string& identity) {
  absl::MutexLock lock(&mu_);
  const auto found = held_.find(identity);
  // Looks up without inserting: a rejected call must not leave an entry behind.
  const Held held = found == held_.end() ? Held() : found->second;
  if (held.calls >= limits_.calls_max) {
    return Full(absl::StrCat("at most ", limits_.calls_max, limits_.calls_max == 1 ? " call" : " calls", " at a time"));
  }
  if (IsFull(held)) return TooManyBytes();
  ++held_[identity].calls;
  return std::unique_ptr<Share>(new Share(*this, identity));
}

bool CallsUnderWay::IsFull(const Held& held) const {
  const bool is_crowded = bytes_ >= limits_.all_bytes_max;
  return held.bytes >= limits_.bytes_max || (is_crowded && held.bytes * holders_ >= limits_.all_bytes_max);
}

void CallsUnderWay::Change(Held& held, size_t from, size_t to) {
  holders_ -= held.bytes > 0;
  // `to` may be less than `from`; the unsigned difference wraps, and the sums are exact.
  held.bytes += to - from;
  bytes_ += to - from;
  holders_ += held.bytes > 0;
}

size_t CallsUnderWay::identities() const {
  absl::MutexLock lock(&mu_);
  return held_.size();
}

CallsUnderWay::Share::~Share() {
  absl::MutexLock lock(&all_.mu_);
  const auto held = all_.held_.find(identity_);
  // The entry exists: each share accounts for one of its calls.
  all_.Change(held->second, bytes_, 0);
  if (--held->second.calls == 0) all_.held_.erase(held);
}

void CallsUnderWay::Share::Hold(size_t bytes) {
  absl::MutexLock lock(&all_.mu_);
  all_.Change(all_.held_[identity_], bytes_, bytes);
  bytes_ = bytes;
}

absl::Status CallsUnderWay::Share::Check() const { return IsFull() ? TooManyBytes() : absl::OkStatus(); }

bool CallsUnderWay::Share::IsFull() const {
  absl::MutexLock lock(&all_.mu_);
  return all_.IsFull(all_.held_.at(identity_));
}

}  // namespace sideband::daemon
