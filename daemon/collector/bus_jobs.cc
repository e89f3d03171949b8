// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/bus_jobs.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "daemon/base/retry_after.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
absl::Duration BusShare::Take(double of, absl::Duration cost, absl::Duration now) {
  paid_until_ = std::max(paid_until_, now);
  const absl::Duration after = paid_until_ + cost / of;
  // A cost above the burst would otherwise never be admitted.
  const absl::Duration limit = now + std::max(kBurst, cost / of);
  if (after > limit) return after - limit;
  paid_until_ = after;
  return absl::ZeroDuration();
}

absl::Duration FairShare::Take(Charge& charge, absl::Duration now) {
  absl::erase_if(parts_, [&](const auto& entry) { return entry.second.kept_until < now; });
  Part& part = parts_[charge.asker];
  charge.part = charge.of / static_cast<double>(parts_.size());
  absl::Duration wait = part.share.Take(charge.part, charge.cost, now);
  if (wait == absl::ZeroDuration()) {
    wait = whole_.Take(charge.of, charge.cost, now);
    if (wait > absl::ZeroDuration()) part.share.Settle(charge.part, charge.cost, absl::ZeroDuration());
  }
  part.kept_until = now + wait + kPartKept;
  return wait;
}

void FairShare::Settle(const Charge& charge, absl::Duration actual) {
  whole_.Settle(charge.of, charge.cost, actual);
  const auto part = parts_.find(charge.asker);
  if (part != parts_.end()) part->second.share.Settle(charge.part, charge.cost, actual);
}

absl::Status Exhausted(absl::string_view what, absl::Duration wait) {
  return WithRetryAfter(absl::ResourceExhaustedError(what), absl::Ceil(wait, absl::Seconds(1)));
}

namespace {

constexpr absl::Duration kPeekWaitMax = absl::Seconds(10);

// By kind. A job of another share or cost says so; see routers.cc.
constexpr std::array<BusJobLimits, kBusJobKinds> kLimits = {{
    {.too_many = "too many triggers wait for the device",
     .no_time = "the bus time for triggers is used up",
     .waiting_of_asker_max = 16,
     .share = BusJob::kUnlimited},
    {.too_many = "too many peeks wait for the device's bus",
     .no_time = "the bus time for peeks of the device is used up",
     .wait_max = kPeekWaitMax},
    // Some 800 bytes at 400 kHz.
    {.too_many = "too many changes wait for the device",
     .no_time = "the bus time for changes of the device is used up",
     .share = 0.05,
     .cost = absl::Milliseconds(20)},
    {.too_many = "too many exchanges of keys wait for the device",
     .no_time = "the bus time for exchanges of keys is used up",
     .share = 0.1,
     .cost = absl::Milliseconds(10)},
    {.too_many = "too many marks of the VM wait for the device",
     .no_time = "the bus time for marks of the VM is used up",
     .waiting_of_asker_max = 16,
     .is_own = true},
}};

absl::Status Overdue() { return absl::DeadlineExceededError("the device's bus was busy for too long"); }

}  // namespace

absl::Status NotReachable() { return absl::UnavailableError("the device cannot be reached now"); }
absl::Status NoLongerRead() { return absl::UnavailableError("the device is no longer read"); }

const BusJobLimits& LimitsOf(BusJobKind kind) { return kLimits[static_cast<size_t>(kind)]; }

absl::Status BusJobs::CheckRoom(const BusJobLimits& limits, const Queue& queue, size_t asker) const {
  const auto of_asker =
      std::ranges::count(queue.waiting, asker, [](const Waiting& waiting) { return waiting.job.asker; });
  const bool is_full = !limits.is_own && queue.waiting.size() >= limits.waiting_max;
  if (!is_full && static_cast<size_t>(of_asker) < limits.waiting_of_asker_max) return absl::OkStatus();
  return Exhausted(limits.too_many, BusShare::kBurst);
}

absl::Status BusJobs::Take(const BusJobLimits& limits, Queue& queue, FairShare::Charge& charge) {
  const absl::Duration now = clock_.Steady();
  if (limits.is_own) {
    const absl::Duration wait = queue.own[charge.asker].Take(charge.of, charge.cost, now);
    if (wait <= absl::ZeroDuration()) return absl::OkStatus();
    // Exact: it tells nothing of others.
    return WithRetryAfter(absl::ResourceExhaustedError(limits.no_time), wait);
  }
  const absl::Duration wait = queue.share.Take(charge, now);
  return wait <= absl::ZeroDuration() ? absl::OkStatus() : Exhausted(limits.no_time, wait);
}

void BusJobs::Settle(BusJobKind kind, const FairShare::Charge& charge, absl::Duration used) {
  if (!LimitsOf(kind).is_own) queues_[static_cast<size_t>(kind)].share.Settle(charge, used);
}

absl::StatusOr<uint64_t> BusJobs::Enqueue(BusJob job) {
  const BusJobLimits& limits = LimitsOf(job.kind);
  FairShare::Charge charge{
      .asker = job.asker, .of = job.share.value_or(limits.share), .cost = job.cost.value_or(limits.cost)};
  absl::MutexLock lock(&mu_);
  if (is_closed_) return NoLongerRead();
  Queue& queue = queues_[static_cast<size_t>(job.kind)];
  SIDEBAND_RETURN_IF_ERROR(CheckRoom(limits, queue, job.asker));
  SIDEBAND_RETURN_IF_ERROR(Take(limits, queue, charge));
  queue.waiting.push_back({++last_number_, std::move(job), charge, clock_.Steady() + limits.wait_max});
  return last_number_;
}

absl::StatusOr<uint64_t> BusJobs::Add(BusJob job) {
  auto number = Enqueue(std::move(job));
  if (number.ok()) wake_();
  return number;
}

bool BusJobs::Remove(uint64_t number) {
  Waiting removed;  // destroyed without the lock: its functions may own a call
  absl::MutexLock lock(&mu_);
  for (Queue& queue : queues_) {
    const auto found = std::ranges::find(queue.waiting, number, &Waiting::number);
    if (found == queue.waiting.end()) continue;
    removed = std::move(*found);
    queue.waiting.erase(found);
    Settle(removed.job.kind, removed.charge, absl::ZeroDuration());
    return true;
  }
  return false;
}

std::optional<BusJobs::Waiting> BusJobs::Pop(BusJobKind kind) {
  absl::MutexLock lock(&mu_);
  Queue& queue = queues_[static_cast<size_t>(kind)];
  auto next = queue.waiting.begin();
  if (next == queue.waiting.end()) return std::nullopt;
  // By turns, an asker waits for one job of each other at most.
  if (LimitsOf(kind).is_own) {
    // How far the asker's number is after that of the last one, from 0 on.
    const auto distance = [&](const Waiting& waiting) { return waiting.job.asker - queue.last_asker - 1; };
    next = std::ranges::min_element(queue.waiting, {}, distance);
  }
  queue.last_asker = next->job.asker;
  std::optional<Waiting> popped = std::move(*next);
  queue.waiting.erase(next);
  return popped;
}

std::vector<BusJobs::Waiting> BusJobs::PopOverdue() {
  std::vector<Waiting> overdue;
  absl::MutexLock lock(&mu_);
  for (Queue& queue : queues_) {
    // The usual case, at each transaction of the bus.
    if (queue.waiting.empty()) continue;
    const absl::Duration now = clock_.Steady();
    const auto late = std::stable_partition(queue.waiting.begin(), queue.waiting.end(),
                                            [&](const Waiting& waiting) { return now <= waiting.refuse_at; });
    for (auto waiting = late; waiting != queue.waiting.end(); ++waiting) {
      Settle(waiting->job.kind, waiting->charge, absl::ZeroDuration());
      overdue.push_back(std::move(*waiting));
    }
    queue.waiting.erase(late, queue.waiting.end());
  }
  return overdue;
}

void BusJobs::RefuseOverdue() {
  for (const Waiting& waiting : PopOverdue()) waiting.job.refuse(Overdue());
}

absl::Status BusJobs::WaitAgain(Waiting& waiting, absl::Duration used) {
  absl::MutexLock lock(&mu_);
  const bool is_last = ++waiting.begins == kBeginsMax;
  Settle(waiting.job.kind, waiting.charge, used + (is_last ? absl::ZeroDuration() : waiting.charge.cost));
  if (is_closed_) return NoLongerRead();
  if (is_last) return Overdue();
  queues_[static_cast<size_t>(waiting.job.kind)].waiting.push_back(std::move(waiting));
  return absl::OkStatus();
}

void BusJobs::Run(Waiting waiting, absl::Duration due) {
  const absl::Duration begin = clock_.Steady();
  const BusJob::Ran ran = waiting.job.run(session_, due);
  const absl::Duration used = clock_.Steady() - begin;
  if (ran.answer == nullptr) {
    const absl::Status status = WaitAgain(waiting, used);
    if (!status.ok()) waiting.job.refuse(status);
    return;
  }
  {
    absl::MutexLock lock(&mu_);
    Settle(waiting.job.kind, waiting.charge, std::max(used, ran.least));
  }
  // Only now, since the caller may ask again.
  ran.answer();
}

bool BusJobs::RunNext(BusJobKind kind, bool is_readable, absl::Duration due) {
  RefuseOverdue();
  std::optional<Waiting> next = Pop(kind);
  if (!next) return false;
  if (is_readable) {
    Run(*std::move(next), due);
    return true;
  }
  {
    absl::MutexLock lock(&mu_);
    Settle(kind, next->charge, absl::ZeroDuration());
  }
  next->job.refuse(NotReachable());
  return true;
}

void BusJobs::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  for (size_t kind = 0; kind < kBusJobKinds; ++kind) {
    while (const auto next = Pop(static_cast<BusJobKind>(kind))) next->job.refuse(NoLongerRead());
  }
}

}  // namespace sideband::daemon
