// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/mark_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1), kNanosecond = absl::Nanoseconds(1);
// Pending marks are read with the next snapshot.
constexpr absl::Duration kPendingRetry = absl::Seconds(1);

absl::Status Later(absl::string_view why, absl::Duration after) {
  return WithRetryAfter(absl::ResourceExhaustedError(why), after);
}

bool IsOf(const Mark& mark, const mailbox::BlockHeader& block) {
  return block.vm == mark.scope.vm && block.context == mark.scope.context && block.generation == mark.scope.generation;
}

// Whether a mark that the snapshot does not have may still come: it is served within a period of the grid.
bool MayCome(const Mark& mark, const mailbox::Snapshot& raw) {
  if (raw.boot_id != mark.scope.boot_id || raw.reference_time_ns < mark.requested_ns) return false;
  const auto most = static_cast<uint64_t>(absl::ToInt64Nanoseconds(MarkBook::kServedWithin));
  if (raw.reference_time_ns - mark.requested_ns > most) return false;
  return std::ranges::any_of(raw.blocks, [&](const mailbox::BlockHeader& block) { return IsOf(mark, block); });
}

void Take(const mailbox::Snapshot& raw, const mailbox::ServedBookmark& served, const LatchTime& latched, Mark& mark) {
  const absl::Duration since = absl::Nanoseconds(static_cast<int64_t>(raw.reference_time_ns - served.served_ns));
  mark.state = Mark::State::kRead;
  mark.requested_ns = served.asked_ns;
  mark.served_ns = served.served_ns;
  mark.counters.assign(served.counters.begin(), served.counters.end());
  mark.flags = raw.blocks[served.block].flags;
  const Mark::Instant& latch = latched.instant;
  // Both reference times are rounded down to nanoseconds, so that `since` may be off by one.
  const absl::Duration drift = absl::Ceil(since * latched.rate_max, kNanosecond) + kNanosecond;
  mark.instant = Mark::Instant{.time = latch.time - since, .error = latch.error + drift};
}

Mark WithoutCounters(const Mark& mark) {
  return {.id = mark.id,
          .scope = mark.scope,
          .vm = mark.vm,
          .topology = mark.topology,
          .label = mark.label,
          .begun = mark.begun,
          .state = mark.state,
          .requested_ns = mark.requested_ns,
          .served_ns = mark.served_ns,
          .counters = {},
          .flags = mark.flags,
          .instant = mark.instant};
}

}  // namespace

absl::Status MarkBook::CheckRate(Device& device, const Mark& mark, absl::Duration now) const {
  const auto is_of_scope = [&](const auto& pending) { return pending.second.mark.scope == mark.scope; };
  if (static_cast<size_t>(std::ranges::count_if(device.pending, is_of_scope)) >= kPendingMax) {
    return Later(absl::StrCat(kPendingMax, " marks of this VM or context are pending"), kPendingRetry);
  }
  std::deque<absl::Duration>& begun = device.vms[mark.vm].begun;
  while (!begun.empty() && begun.front() + kSecond <= now) begun.pop_front();
  if (begun.size() >= limits_.per_second) {
    return Later(absl::StrCat("at most ", limits_.per_second, limits_.per_second == 1 ? " mark" : " marks",
                              " a second for a VM"),
                 begun.front() + kSecond - now);
  }
  begun.push_back(now);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> MarkBook::Begin(size_t device, Mark mark, absl::Duration now) {
  absl::MutexLock lock(&mu_);
  Device& own = devices_[device];
  SIDEBAND_RETURN_IF_ERROR(CheckRate(own, mark, now));
  mark.id = ++own.vms[mark.vm].marks;
  mark.begun = now;
  mark.state = Mark::State::kPending;
  ++changes_;
  own.pending.insert_or_assign(next_, Pending{.mark = std::move(mark)});
  return next_++;
}

std::optional<Mark> MarkBook::Requested(size_t device, uint32_t bookmark, uint64_t requested_ns) {
  absl::MutexLock lock(&mu_);
  Device& own = devices_[device];
  const auto found = own.pending.find(bookmark);
  if (found == own.pending.end()) return std::nullopt;
  found->second.is_requested = true;
  found->second.mark.requested_ns = requested_ns;
  ++changes_;
  return found->second.mark;
}

void MarkBook::Drop(size_t device, uint32_t bookmark) {
  absl::MutexLock lock(&mu_);
  devices_[device].pending.erase(bookmark);
  ++changes_;
}

// The VM's oldest go.
void MarkBook::Finish(Device& device, Mark mark) {
  ++changes_;
  std::deque<Mark>& done = device.vms[mark.vm].done;
  done.insert(std::ranges::upper_bound(done, mark.id, {}, &Mark::id), std::move(mark));
  if (done.size() > limits_.kept) done.pop_front();
}

void MarkBook::Read(size_t device, const mailbox::Snapshot& raw, const LatchTime& latched) {
  absl::MutexLock lock(&mu_);
  const auto own = devices_.find(device);
  if (own == devices_.end()) return;
  auto& pending = own->second.pending;
  for (const mailbox::ServedBookmark& served : raw.bookmarks) {
    const auto found = pending.find(served.bookmark);
    // Other controllers have bookmarks, too.
    if (found == pending.end() || !IsOf(found->second.mark, raw.blocks[served.block])) continue;
    if (found->second.mark.scope.boot_id != raw.boot_id) continue;
    Take(raw, served, latched, found->second.mark);
    Finish(own->second, std::move(pending.extract(found).mapped().mark));
  }
  for (auto at = pending.begin(); at != pending.end();) {
    const auto next = std::next(at);
    if (at->second.is_requested && !MayCome(at->second.mark, raw)) {
      at->second.mark.state = Mark::State::kLost;
      Finish(own->second, std::move(pending.extract(at).mapped().mark));
    }
    at = next;
  }
}

void MarkBook::Forget(size_t device) {
  absl::MutexLock lock(&mu_);
  devices_.erase(device);
  ++changes_;
}

uint64_t MarkBook::changes() const {
  absl::MutexLock lock(&mu_);
  return changes_;
}

std::vector<Mark> MarkBook::Of(size_t device, const Uuid& vm) const {
  absl::MutexLock lock(&mu_);
  std::vector<Mark> marks;
  const auto own = devices_.find(device);
  if (own == devices_.end() || !own->second.vms.contains(vm)) return marks;
  for (const Mark& mark : own->second.vms.at(vm).done) marks.push_back(WithoutCounters(mark));
  for (const auto& [bookmark, pending] : own->second.pending) {
    if (pending.mark.vm == vm) marks.push_back(pending.mark);
  }
  std::ranges::sort(marks, {}, &Mark::id);
  return marks;
}

std::optional<Mark> MarkBook::Find(size_t device, const Uuid& vm, uint64_t id) const {
  absl::MutexLock lock(&mu_);
  const auto own = devices_.find(device);
  if (own == devices_.end() || !own->second.vms.contains(vm)) return std::nullopt;
  const std::deque<Mark>& done = own->second.vms.at(vm).done;
  if (const auto found = std::ranges::find(done, id, &Mark::id); found != done.end()) return *found;
  for (const auto& [bookmark, pending] : own->second.pending) {
    if (pending.mark.vm == vm && pending.mark.id == id) return pending.mark;
  }
  return std::nullopt;
}

}  // namespace sideband::daemon
