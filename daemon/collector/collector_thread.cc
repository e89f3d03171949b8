// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/collector_thread.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

CollectorThread::CollectorThread(size_t device, std::unique_ptr<Transport> transport, uint8_t address,
                                 const CollectorContext& context)
    : device_(device),
      store_(context.store),
      info_(store_.Info(device)),
      transport_(std::move(transport)),
      bus_(*transport_, *this),
      port_(
          bus_, address,
          [this, &metrics = context.metrics](absl::string_view outcome) { metrics.BusTransfer(info_->name, outcome); }),
      session_(port_, [this](absl::Duration pause) { WaitFor(pause); }),
      collector_(device, session_, context),
      jobs_(session_, context.clock, [this] { Wake(); }),
      lock_(transport_->lock_file()),
      board_(device, session_, lock_, {context.store, context.boards, context.clock}),
      buses_(context.buses),
      clock_(context.clock) {
  if (buses_ != nullptr) buses_->Add(device_, jobs_);
}

CollectorThread::~CollectorThread() {
  Stop();
  if (buses_ != nullptr) buses_->Remove(device_);
}

void CollectorThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CollectorThread::RequestStop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  jobs_.Close();
}

void CollectorThread::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
}

bool CollectorThread::IsStopping() const {
  absl::MutexLock lock(&mu_);
  return stopping_;
}

absl::StatusOr<smbus::TransferResult> CollectorThread::Bus::Execute(const smbus::Transfer& transfer) {
  // The check is between two transactions, so that none is cut short on the bus.
  if (owner_.IsStopping()) return absl::CancelledError("stopping");
  if (owner_.clock_.Steady() > deadline_) return absl::CancelledError(error_);
  owner_.ShowProgress();
  owner_.jobs_.RefuseOverdue();
  return transport_.Execute(transfer);
}

absl::Duration CollectorThread::Silence() const {
  const int64_t progress_ns = progress_ns_;
  if (progress_ns == kResting) return absl::ZeroDuration();
  return clock_.Steady() - absl::Nanoseconds(progress_ns);
}

bool CollectorThread::WaitFor(absl::Duration duration) {
  absl::MutexLock lock(&mu_);
  return !changed_.AwaitFor(mu_, absl::Condition(&stopping_), duration);
}

void CollectorThread::Report(const absl::Status& status) {
  // Only transitions are logged: an unreachable device fails at every interval.
  if (status.ok() && (!reported_ || !last_error_.empty())) {
    spdlog::info("device {}: snapshots every {}", info_->name, absl::FormatDuration(info_->interval));
  }
  const bool is_board_alone = absl::IsUnimplemented(status) && board_.is_wanted() && !HasHadCounters();
  const std::string error = absl::StrCat(is_board_alone ? "base commands only: " : "", status.message());
  if (!status.ok() && last_error_ != error) {
    spdlog::log(is_board_alone ? spdlog::level::info : spdlog::level::warn, "device {}: {}", info_->name, error);
  }
  reported_ = true;
  last_error_ = status.ok() ? "" : error;
}

void CollectorThread::ReportRestart() {
  const auto newest = store_.Newest(device_);
  if (newest == nullptr) return;
  const uint64_t before = std::exchange(boot_id_, newest->data.boot_id);
  // 0: this is the first snapshot of this run.
  if (before == 0 || before == boot_id_) return;
  if (const auto left_out = changes_.Take(clock_.Steady())) {
    spdlog::warn("device {}: has restarted: boot id {:016x} after {:016x}; its counts start from 0 again{}",
                 info_->name, boot_id_, before, LeftOutText(*left_out));
  }
}

void CollectorThread::ReportVersion() {
  const auto version = static_cast<uint8_t>(session_.version());
  const uint8_t before = std::exchange(version_, version);
  // 0: this is the first snapshot of this run.
  if (before == 0) {
    spdlog::info("device {}: version {} of the snapshot extension", info_->name, version);
  } else if (before != version) {
    if (const auto left_out = changes_.Take(clock_.Steady())) {
      spdlog::warn("device {}: version {} of the snapshot extension after version {}{}", info_->name, version, before,
                   LeftOutText(*left_out));
    }
  }
}

absl::Status CollectorThread::LockBus() {
  if (!board_.is_shared()) return absl::OkStatus();
  for (int attempt = 0; attempt < kLockAttemptsMax; ++attempt) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool is_held, lock_.TryAcquire());
    if (is_held) return absl::OkStatus();
    ShowProgress();
    if (!WaitFor(kLockPause)) return absl::CancelledError("stopping");
  }
  return absl::UnavailableError("another program has the bus's lock");
}

void CollectorThread::Collect() {
  bus_.StartWithin(kCollectionMax, "a snapshot takes longer than ten minutes");
  // A burst that has the lock goes on with it afterwards.
  const bool is_in_burst = lock_.is_held();
  const absl::Status locked = LockBus();
  const absl::Status status = locked.ok() ? collector_.CollectOnce() : collector_.Miss(locked);
  if (!is_in_burst) lock_.Release();
  is_readable_ = status.ok();
  // A device without the extension has base commands at least.
  board_.SetReachable(status.ok() || absl::IsUnimplemented(status));
  if (absl::IsUnimplemented(status)) PublishBoardAlone();
  // The error is then a consequence of the stop request.
  if (IsStopping()) return;
  Report(status);
  if (status.ok()) ReportVersion();
  ReportRestart();
}

// A device that had counters in this run, and has lost them, is at fault: it becomes stale.
bool CollectorThread::HasHadCounters() const {
  const auto newest = store_.Newest(device_);
  return newest != nullptr && !newest->topology->catalog().events.empty();
}

void CollectorThread::PublishBoardAlone() {
  if (HasHadCounters()) return;
  auto snapshot = board_.SnapshotOfReading();
  if (snapshot != nullptr) store_.Publish(device_, std::move(snapshot));
}

void CollectorThread::Reconsider() {
  absl::MutexLock lock(&mu_);
  is_to_reconsider_ = true;
  changed_.NotifyAll();
}

void CollectorThread::Wake() {
  absl::MutexLock lock(&mu_);
  is_job_added_ = true;
  changed_.NotifyAll();
}

void CollectorThread::RunJobs(absl::Duration next) {
  {
    // Before the jobs are looked at: a job that comes later wakes the thread again.
    absl::MutexLock lock(&mu_);
    is_job_added_ = false;
  }
  do {
    ShowProgress();
    bus_.StartWithin(kPeekMax, "an answer takes longer than ten seconds");
  } while (RunNext(next) && clock_.Steady() < next);
  progress_ns_ = kResting;
}

bool CollectorThread::RunNext(absl::Duration next) {
  // The board is one kind more.
  constexpr size_t kKinds = kBusJobKinds + 1;
  for (size_t i = 0; i < kKinds; ++i) {
    const size_t kind = first_kind_;
    first_kind_ = (kind + 1) % kKinds;
    const bool has_run =
        kind == kBusJobKinds ? board_.RunNext() : jobs_.RunNext(static_cast<BusJobKind>(kind), is_readable_, next);
    if (has_run) return true;
  }
  return false;
}

bool CollectorThread::UpdateInfo() {
  {
    absl::MutexLock lock(&mu_);
    is_to_reconsider_ = false;
  }
  auto now = store_.Info(device_);
  // The device was removed; this thread is about to be stopped.
  if (now == nullptr) return false;
  const auto before = std::exchange(info_, std::move(now));
  return before->interval != info_->interval;
}

bool CollectorThread::WaitUntil(absl::Duration next) {
  absl::MutexLock lock(&mu_);
  changed_.AwaitFor(mu_, absl::Condition(this, &CollectorThread::IsWoken), next - clock_.Steady());
  return !stopping_;
}

void CollectorThread::Run() {
  // Counters of confidential VMs pass through this stack in plaintext.
  HideStackFromCoreDumps();
  absl::Duration next = clock_.Steady();
  do {
    if (UpdateInfo()) next = clock_.Steady();
    if (clock_.Steady() >= next) {
      ShowProgress();
      Collect();
      // Keeps the time grid: intervals that elapsed during a slow collection are skipped, not caught up.
      while (next <= clock_.Steady()) next += info_->interval;
    }
    RunJobs(next);
  } while (WaitUntil(std::min(next, board_.NextTime())));
}

}  // namespace sideband::daemon
