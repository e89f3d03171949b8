// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/collector_thread.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace sideband::daemon {

CollectorThread::CollectorThread(size_t device, std::unique_ptr<Transport> transport, uint8_t address, Store& store,
                                 SealerSet& sealers, SelfMetrics& metrics, const Clock& clock)
    : device_(device),
      store_(store),
      info_(store.devices()[device]),
      transport_(std::move(transport)),
      bus_(*transport_, *this),
      port_(bus_, address, [this, &metrics](absl::string_view outcome) { metrics.BusTransfer(info_.name, outcome); }),
      session_(port_, [this](absl::Duration pause) { WaitFor(pause); }),
      collector_(device, store, session_, sealers, metrics, clock),
      clock_(clock) {}

CollectorThread::~CollectorThread() { Stop(); }

void CollectorThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CollectorThread::RequestStop() {
  absl::MutexLock lock(&mu_);
  stopping_ = true;
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
  if (owner_.IsStopping()) return absl::CancelledError("stopping");
  if (owner_.clock_.Steady() > deadline_) return absl::CancelledError("a snapshot takes longer than ten minutes");
  return transport_.Execute(transfer);
}

bool CollectorThread::WaitFor(absl::Duration duration) {
  absl::MutexLock lock(&mu_);
  return !mu_.AwaitWithTimeout(absl::Condition(&stopping_), duration);
}

void CollectorThread::Report(const absl::Status& status) {
  if (status.ok() && (!reported_ || !last_error_.empty())) {
    spdlog::info("device {}: snapshots every {}", info_.name, absl::FormatDuration(info_.interval));
  } else if (!status.ok() && last_error_ != status.message()) {
    spdlog::warn("device {}: {}", info_.name, std::string(status.message()));
  }
  reported_ = true;
  last_error_ = std::string(status.message());
}

void CollectorThread::ReportRestart() {
  const auto newest = store_.Newest(device_);
  if (newest == nullptr) return;
  const uint64_t before = std::exchange(boot_id_, newest->data.boot_id);
  if (before == 0 || before == boot_id_) return;
  spdlog::warn("device {}: has restarted: boot id {:016x} after {:016x}; its counts begin anew", info_.name, boot_id_,
               before);
}

void CollectorThread::Run() {
  absl::Duration next = clock_.Steady();
  do {
    bus_.StartCollection();
    const absl::Status status = collector_.CollectOnce();
    if (IsStopping()) return;
    Report(status);
    ReportRestart();
    // The grid is kept; intervals that a slow bus has eaten are left out.
    while (next <= clock_.Steady()) next += info_.interval;
  } while (WaitFor(next - clock_.Steady()));
}

}  // namespace sideband::daemon
