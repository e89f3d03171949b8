// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// What waits is bounded, however much a peer sends: one byte more than a text may have shows that it was longer.
void CutTexts(AuditEntry& entry) {
  for (std::string* text : {&entry.principal, &entry.role, &entry.endpoint, &entry.resource, &entry.reason}) {
    if (text->size() > kAuditTextBytesMax) *text = text->substr(0, kAuditTextBytesMax + 1);
  }
  if (entry.detail.size() > kAuditDetailMax) entry.detail.resize(kAuditDetailMax);
  for (std::string& text : entry.detail) {
    if (text.size() > kAuditTextBytesMax) text = text.substr(0, kAuditTextBytesMax + 1);
  }
}

size_t BytesOf(const AuditEntry& entry) {
  size_t bytes = sizeof(entry) + entry.principal.size() + entry.role.size() + entry.endpoint.size() +
                 entry.resource.size() + entry.reason.size();
  for (const std::string& text : entry.detail) bytes += sizeof(text) + text.size();
  return bytes;
}

std::string Greeting(const std::string& greeting, uint64_t bytes_cut_off) {
  if (bytes_cut_off == 0) return greeting;
  return absl::StrCat(greeting, "; ", bytes_cut_off, " bytes of an unfinished line at the end were cut off");
}

}  // namespace

AuditLog::AuditLog(Options options, const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
                   SelfMetrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      metrics_(metrics),
      writer_(end, storage, clock, metrics, {.sync_interval = options_.interval}),
      repeats_(options_.repeats) {}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Start(Options options, const AuditFiles::ChainEnd& end,
                                                          AuditStorage& storage, const Clock& clock,
                                                          SelfMetrics& metrics) {
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options), end, storage, clock, metrics));
  SIDEBAND_RETURN_IF_ERROR(log->Begin(end));
  return log;
}

absl::Status AuditLog::Begin(const AuditFiles::ChainEnd& end) {
  SIDEBAND_RETURN_IF_ERROR(writer_.Write(
      {{.time = clock_.Now(), .kind = AuditKind::kStart, .reason = Greeting(options_.greeting, end.bytes_cut_off)}}));
  SIDEBAND_RETURN_IF_ERROR(writer_.Sync());
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

AuditLog::~AuditLog() { Stop(); }

bool AuditLog::Record(AuditEntry entry) {
  CutTexts(entry);
  absl::MutexLock lock(&mu_);
  if (waiting_.is_last) {
    metrics_.AuditLost(1);
    return false;
  }
  const absl::Duration now = clock_.Steady();
  for (AuditEntry& summary : repeats_.TakeEnded(now)) Push(std::move(summary));
  return repeats_.Count(entry, now) || Push(std::move(entry));
}

bool AuditLog::Push(AuditEntry entry) {
  const size_t bytes = BytesOf(entry);
  // Once one is left out, all that follow are until the writer has come: a "lost" entry stands where they would.
  if (waiting_.dropped > 0 || waiting_bytes_ + bytes > options_.queue_bytes_max) {
    waiting_.dropped += ToldBy(entry);
    return false;
  }
  entry.time = clock_.Now();
  waiting_bytes_ += bytes;
  waiting_.entries.push_back(std::move(entry));
  return true;
}

void AuditLog::Stop() {
  {
    absl::MutexLock lock(&mu_);
    waiting_.is_last = true;
  }
  if (thread_.joinable()) thread_.join();
}

absl::Duration AuditLog::Timeout() const {
  const absl::Duration interval = writer_.has_unfinished() ? options_.interval : absl::InfiniteDuration();
  return std::min(interval, repeats_.next_end() - clock_.Steady());
}

AuditLog::Batch AuditLog::Take() {
  absl::MutexLock lock(&mu_);
  mu_.AwaitWithTimeout(absl::Condition(this, &AuditLog::HasNews), Timeout());
  for (AuditEntry& summary : waiting_.is_last ? repeats_.TakeAll() : repeats_.TakeEnded(clock_.Steady())) {
    Push(std::move(summary));
  }
  Batch batch{.dropped = waiting_.dropped, .is_last = waiting_.is_last};
  batch.entries.swap(waiting_.entries);
  waiting_.dropped = 0;
  waiting_bytes_ = 0;
  return batch;
}

absl::Status AuditLog::Write(Batch batch) {
  absl::Status status = writer_.Write(std::move(batch.entries));
  writer_.Lose(batch.dropped);
  std::vector<AuditEntry> after;
  if (batch.is_last) after.push_back({.time = clock_.Now(), .kind = AuditKind::kStop});
  // The "lost" entry, if there must be one, comes with it.
  if (status.ok()) status = writer_.Write(std::move(after));
  SIDEBAND_RETURN_IF_ERROR(status);
  return batch.is_last ? writer_.Sync() : writer_.SyncIfDue();
}

void AuditLog::Report(const absl::Status& status) {
  if (last_error_ == status.message()) return;
  last_error_ = std::string(status.message());
  options_.on_change(status);
}

void AuditLog::Run() {
  bool is_last = false;
  while (!is_last) {
    Batch batch = Take();
    is_last = batch.is_last;
    Report(Write(std::move(batch)));
  }
}

}  // namespace sideband::daemon
