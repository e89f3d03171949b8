// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/call_limits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

// A client that reads its answers has read them by then.
constexpr absl::Duration kCallRetryAfter = absl::Seconds(1);

absl::Status Full(absl::string_view why) { return WithRetryAfter(absl::ResourceExhaustedError(why), kCallRetryAfter); }

absl::Status TooManyBytes() { return Full("too many bytes of earlier answers are unread"); }

// Streams last: those whose connection has died end when their readers have taken nothing for some heartbeats.
constexpr absl::Duration kStreamRetryAfter = absl::Seconds(5);

}  // namespace

RequestQuota::RequestQuota(Limits limits, const Clock& clock)
    : limits_(limits),
      clock_(clock),
      interval_(absl::Seconds(1) / limits.per_second),
      window_(interval_ * limits.burst),
      forget_at_(clock.Steady() + window_) {}

RequestQuota::Verdict RequestQuota::Take(const std::string& identity) {
  const absl::Duration now = clock_.Steady();
  absl::MutexLock lock(&mu_);
  if (now >= forget_at_) Forget(now);
  Entry& entry = entries_[identity];
  // GCRA (a virtual-time leaky bucket): `paid_until` may run ahead of `now` by one window, that is, one burst.
  const absl::Duration paid_until = std::max(entry.paid_until, now) + interval_;
  const absl::Duration early_by = paid_until - now - window_;
  const bool was_refused = std::exchange(entry.is_refused, early_by > absl::ZeroDuration());
  if (entry.is_refused) return {.is_admitted = false, .is_repeated = was_refused, .retry_after = early_by};
  // Only admitted requests are charged.
  entry.paid_until = paid_until;
  return {};
}

// An entry that is not ahead of `now` equals a new one, so it can be dropped.
void RequestQuota::Forget(absl::Duration now) {
  absl::erase_if(entries_, [now](const auto& item) { return item.second.paid_until <= now; });
  forget_at_ = now + window_;
}

size_t RequestQuota::remembered() const {
  absl::MutexLock lock(&mu_);
  return entries_.size();
}

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

StreamRegistry::StreamRegistry(Reader& reader, size_t per_identity_max, absl::Duration wake_interval)
    : reader_(reader), per_identity_max_(per_identity_max), wake_interval_(wake_interval), thread_([this] { Run(); }) {
  reader_.AddListener(*this);
}

StreamRegistry::~StreamRegistry() {
  // First: no update may reach an object that is being destroyed.
  reader_.RemoveListener(*this);
  Stop();
  thread_.join();
}

absl::Status StreamRegistry::Add(const std::string& identity, std::shared_ptr<Stream> stream) {
  absl::MutexLock lock(&mu_);
  // A stream added now would miss Stop().
  if (stopping_) return absl::UnavailableError("shutting down");
  size_t& open = per_identity_[identity];
  if (open >= per_identity_max_) {
    return WithRetryAfter(
        absl::ResourceExhaustedError(
            absl::StrCat("at most ", per_identity_max_, per_identity_max_ == 1 ? " stream" : " streams", " at a time")),
        kStreamRetryAfter);
  }
  ++open;
  const Stream* key = stream.get();
  entries_.emplace(key, Entry{identity, std::move(stream)});
  return absl::OkStatus();
}

void StreamRegistry::Remove(const Stream* stream) {
  std::shared_ptr<Stream> removed;  // declared first: destroyed after the lock is released
  absl::MutexLock lock(&mu_);
  const auto entry = entries_.find(stream);
  if (entry == entries_.end()) return;
  removed = std::move(entry->second.stream);
  const auto open = per_identity_.find(entry->second.identity);
  if (--open->second == 0) per_identity_.erase(open);
  entries_.erase(entry);
}

void StreamRegistry::Stop() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
    streams = Streams();
  }
  // Without the lock, since stopping a stream leads to Remove().
  for (const auto& stream : streams) stream->Stop();
}

std::vector<std::shared_ptr<Stream>> StreamRegistry::Streams() const {
  std::vector<std::shared_ptr<Stream>> streams;
  for (const auto& [key, entry] : entries_) streams.push_back(entry.stream);
  return streams;
}

void StreamRegistry::OnUpdate() {
  absl::MutexLock lock(&mu_);
  news_ = true;
  changed_.NotifyAll();
}

void StreamRegistry::Run() {
  while (true) {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      absl::MutexLock lock(&mu_);
      changed_.AwaitFor(mu_, absl::Condition(this, &StreamRegistry::HasNews), wake_interval_);
      if (stopping_) return;
      news_ = false;
      streams = Streams();
    }
    // Without the lock, so that Add, Remove and publications do not wait for the streams.
    for (const auto& stream : streams) stream->Wake();
  }
}

}  // namespace sideband::daemon
