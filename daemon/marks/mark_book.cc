// SPDX-License-Identifier: Apache-2.0
#include "daemon/marks/mark_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);
// Pending marks are read with the next snapshot.
constexpr absl::Duration kPendingRetry = absl::Seconds(1);
// Of the reference clock, over the time between an instant and its snapshot.
constexpr double kReferenceRateMax = 200e-6;

absl::Status Later(absl::string_view why, absl::Duration after) {
  return WithRetryAfter(absl::ResourceExhaustedError(why), after);
}

bool IsOf(const Mark& mark, const mailbox::BlockHeader& block) {
  return block.vm == mark.scope.vm && block.context == mark.scope.context && block.generation == mark.scope.generation;
}

bool IsThere(const Mark& mark, const mailbox::Snapshot& raw) {
  return raw.boot_id == mark.scope.boot_id &&
         std::ranges::any_of(raw.blocks, [&](const mailbox::BlockHeader& block) { return IsOf(mark, block); });
}

}  // namespace

absl::Status MarkBook::CheckRate(Device& device, const Mark& mark, absl::Duration now) const {
  const auto is_pending = [&](const Entry& entry) {
    return entry.mark.state == Mark::State::kPending && entry.mark.scope == mark.scope;
  };
  if (static_cast<size_t>(std::ranges::count_if(device.entries, is_pending)) >= kPendingMax) {
    return Later(absl::StrCat(kPendingMax, " marks there are pending"), kPendingRetry);
  }
  std::deque<absl::Duration>& begun = device.vms[mark.vm].begun;
  while (!begun.empty() && begun.front() + kSecond <= now) begun.pop_front();
  if (begun.size() >= limits_.per_second) {
    return Later(absl::StrCat("a VM has ", limits_.per_second, " marks a second"), begun.front() + kSecond - now);
  }
  begun.push_back(now);
  return absl::OkStatus();
}

// The VM's oldest go.
void MarkBook::MakeRoom(Device& device, const Uuid& vm) const {
  const auto is_own = [&](const Entry& entry) { return entry.mark.vm == vm; };
  if (static_cast<size_t>(std::ranges::count_if(device.entries, is_own)) < limits_.kept) return;
  device.entries.erase(std::ranges::find_if(device.entries, is_own));
}

absl::StatusOr<uint32_t> MarkBook::Begin(size_t device, Mark mark, absl::Duration now) {
  absl::MutexLock lock(&mu_);
  Device& own = devices_[device];
  SIDEBAND_RETURN_IF_ERROR(CheckRate(own, mark, now));
  MakeRoom(own, mark.vm);
  mark.id = ++own.vms[mark.vm].marks;
  mark.state = Mark::State::kPending;
  own.entries.push_back({.bookmark = next_, .mark = std::move(mark)});
  return next_++;
}

MarkBook::Entry* MarkBook::FindPending(Device& device, uint32_t bookmark) {
  const auto found = std::ranges::find_if(device.entries, [&](const Entry& entry) {
    return entry.bookmark == bookmark && entry.mark.state == Mark::State::kPending;
  });
  return found == device.entries.end() ? nullptr : &*found;
}

std::optional<Mark> MarkBook::Requested(size_t device, uint32_t bookmark, uint64_t requested_ns) {
  absl::MutexLock lock(&mu_);
  Entry* const entry = FindPending(devices_[device], bookmark);
  if (entry == nullptr) return std::nullopt;
  entry->is_requested = true;
  entry->mark.requested_ns = requested_ns;
  return entry->mark;
}

void MarkBook::Drop(size_t device, uint32_t bookmark) {
  absl::MutexLock lock(&mu_);
  std::erase_if(devices_[device].entries, [&](const Entry& entry) {
    return entry.bookmark == bookmark && entry.mark.state == Mark::State::kPending;
  });
}

void MarkBook::Take(const mailbox::Snapshot& raw, const mailbox::ServedBookmark& served, const Mark::Instant& latched,
                    Mark& mark) {
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(raw.reference_time_ns - served.served_ns));
  mark.state = Mark::State::kRead;
  mark.requested_ns = served.asked_ns;
  mark.served_ns = served.served_ns;
  mark.counters.assign(served.counters.begin(), served.counters.end());
  mark.flags = raw.blocks[served.block].flags;
  mark.instant = Mark::Instant{.time = latched.time - since, .error = latched.error + since * kReferenceRateMax};
}

void MarkBook::Read(size_t device, const mailbox::Snapshot& raw, const Mark::Instant& latched) {
  absl::MutexLock lock(&mu_);
  const auto own = devices_.find(device);
  if (own == devices_.end()) return;
  for (const mailbox::ServedBookmark& served : raw.bookmarks) {
    Entry* const entry = FindPending(own->second, served.bookmark);
    // Other controllers have bookmarks, too.
    if (entry == nullptr || !IsOf(entry->mark, raw.blocks[served.block])) continue;
    if (entry->mark.scope.boot_id == raw.boot_id) Take(raw, served, latched, entry->mark);
  }
  for (Entry& entry : own->second.entries) {
    if (entry.mark.state == Mark::State::kPending && entry.is_requested) Miss(raw, entry);
  }
}

// It is served within a period of the grid, and in the snapshot after that.
void MarkBook::Miss(const mailbox::Snapshot& raw, Entry& entry) {
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(raw.reference_time_ns - entry.mark.requested_ns));
  if (since > kServedWithin || !IsThere(entry.mark, raw)) entry.mark.state = Mark::State::kLost;
}

void MarkBook::Forget(size_t device) {
  absl::MutexLock lock(&mu_);
  devices_.erase(device);
}

std::vector<Mark> MarkBook::Of(size_t device) const {
  absl::MutexLock lock(&mu_);
  std::vector<Mark> marks;
  const auto own = devices_.find(device);
  if (own == devices_.end()) return marks;
  for (const Entry& entry : own->second.entries) {
    const Mark& mark = entry.mark;
    marks.push_back({.id = mark.id,
                     .scope = mark.scope,
                     .vm = mark.vm,
                     .topology = mark.topology,
                     .label = mark.label,
                     .state = mark.state,
                     .requested_ns = mark.requested_ns,
                     .served_ns = mark.served_ns,
                     .counters = {},
                     .flags = mark.flags,
                     .instant = mark.instant});
  }
  return marks;
}

std::optional<Mark> MarkBook::Find(size_t device, const Uuid& vm, uint64_t id) const {
  absl::MutexLock lock(&mu_);
  const auto own = devices_.find(device);
  if (own == devices_.end()) return std::nullopt;
  const auto found = std::ranges::find_if(
      own->second.entries, [&](const Entry& entry) { return entry.mark.vm == vm && entry.mark.id == id; });
  return found == own->second.entries.end() ? std::nullopt : std::optional(found->mark);
}

}  // namespace sideband::daemon
