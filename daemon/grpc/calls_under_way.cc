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

}  // namespace

absl::StatusOr<std::unique_ptr<CallsUnderWay::Share>> CallsUnderWay::Begin(const std::string& identity) {
  absl::MutexLock lock(&mu_);
  const auto found = held_.find(identity);
  // Looks up without inserting: a rejected call must not leave an entry behind.
  const Held held = found == held_.end() ? Held() : found->second;
  if (held.calls >= limits_.calls_max) {
    return Full(absl::StrCat("at most ", limits_.calls_max, " calls at a time"));
  }
  if (held.bytes >= limits_.bytes_max) {
    return Full("too many bytes of earlier answers are unread");
  }
  ++held_[identity].calls;
  return std::unique_ptr<Share>(new Share(*this, identity));
}

size_t CallsUnderWay::identities() const {
  absl::MutexLock lock(&mu_);
  return held_.size();
}

CallsUnderWay::Share::~Share() {
  absl::MutexLock lock(&all_.mu_);
  const auto held = all_.held_.find(identity_);
  // The entry exists: each share accounts for one of its calls.
  held->second.bytes -= bytes_;
  if (--held->second.calls == 0) all_.held_.erase(held);
}

void CallsUnderWay::Share::Hold(size_t bytes) {
  absl::MutexLock lock(&all_.mu_);
  size_t& held = all_.held_[identity_].bytes;
  // `bytes` may be less than `bytes_`; the unsigned difference wraps, and the sum is exact.
  held += bytes - bytes_;
  bytes_ = bytes;
}

bool CallsUnderWay::Share::IsFull() const {
  absl::MutexLock lock(&all_.mu_);
  return all_.held_.at(identity_).bytes >= all_.limits_.bytes_max;
}

}  // namespace sideband::daemon
