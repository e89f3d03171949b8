// SPDX-License-Identifier: Apache-2.0
#include "daemon/audit/audit_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// The bytes that are appended at once, so that they are stored as a whole or not at all. The smallest file holds one
// piece.
constexpr size_t kPieceBytes = kAuditLineBytesMax + 1;

bool IsNobodys(const AuditEntry& entry) {
  return entry.kind == AuditKind::kAccess && entry.principal.empty() && entry.decision == AuditDecision::kDeny;
}

// The key omits the requested resource: a peer can make up any number of paths and filters.
std::string KeyOf(const AuditEntry& entry) {
  std::string key = absl::StrCat(entry.endpoint, "\n", entry.reason);
  for (const std::string& shown : entry.detail) absl::StrAppend(&key, "\n", shown);
  return key;
}

// Never a result of KeyOf(), which has a line break.
constexpr char kOtherKinds[] = "";

// The summary of the kinds beyond kinds_max.
AuditEntry OfOtherKinds(const AuditEntry& entry) {
  return {.decision = AuditDecision::kDeny,
          .reason = "other kinds, counted together",
          .policy_version = entry.policy_version};
}

// Between two batches: to wake the writer for each of thousands of entries a second would cost more than to write them.
constexpr absl::Duration kBatchPause = absl::Milliseconds(2);

// Bounds the queue, however much a peer sends. One byte more than the limit shows that the text was longer.
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
  for (const std::string& text : entry.detail) bytes += sizeof(std::string) + text.size();
  return bytes;
}

std::string Greeting(const std::string& greeting, uint64_t bytes_cut_off) {
  if (bytes_cut_off == 0) return greeting;
  return absl::StrCat(greeting, "; ", bytes_cut_off, bytes_cut_off == 1 ? " byte" : " bytes",
                      " of an unfinished line at the end ", bytes_cut_off == 1 ? "was" : "were", " cut off");
}

}  // namespace

AuditWriter::AuditWriter(const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
                         AuditMetrics& metrics, Options options)
    : storage_(storage),
      clock_(clock),
      metrics_(metrics),
      options_(options),
      sequence_(end.sequence),
      head_(end.head) {}

void AuditWriter::Lose(uint64_t entries) {
  if (entries == 0) return;
  lost_ += entries;
  metrics_.AuditLost(entries);
}

absl::Status AuditWriter::AppendPiece(std::vector<AuditEntry>& entries, size_t& begin) {
  std::string piece, head = head_;
  size_t end = begin;
  for (; end < entries.size(); ++end) {
    entries[end].sequence = sequence_ + (end - begin) + 1;
    const std::string line = EncodeAuditLine({.entry = entries[end], .prev = head});
    // The longest line fits into an empty piece, so that every piece has an entry.
    if (piece.size() + line.size() + 1 > kPieceBytes) break;
    head = AuditHash(line);
    piece += line + "\n";
  }
  // The chain advances only after a successful append.
  SIDEBAND_RETURN_IF_ERROR(storage_.Append(piece));
  metrics_.AuditWritten(end - begin);
  sequence_ += end - begin;
  head_ = std::move(head);
  is_dirty_ = true;
  begin = end;
  return absl::OkStatus();
}

absl::Status AuditWriter::AppendLostEntry() {
  if (lost_ == 0) return absl::OkStatus();
  std::vector<AuditEntry> entry = {{.time = clock_.Now(), .kind = AuditKind::kLost, .lost = lost_}};
  size_t begin = 0;
  SIDEBAND_RETURN_IF_ERROR(AppendPiece(entry, begin));
  lost_ = 0;
  return absl::OkStatus();
}

absl::Status AuditWriter::Write(std::vector<AuditEntry> entries) {
  size_t written = 0;
  absl::Status status = AppendLostEntry();
  while (status.ok() && written < entries.size()) status = AppendPiece(entries, written);
  for (; written < entries.size(); ++written) Lose(RepresentedEntries(entries[written]));
  return status;
}

absl::Status AuditWriter::SyncIfDue() {
  const bool is_due = clock_.Steady() - last_sync_ >= options_.sync_interval;
  return is_due ? Sync() : sync_status_;
}

absl::Status AuditWriter::Sync() {
  if (!is_dirty_) return absl::OkStatus();
  // Set for a failed sync, too, so that it is retried once an interval.
  last_sync_ = clock_.Steady();
  sync_status_ = storage_.Sync();
  is_dirty_ = !sync_status_.ok();
  return sync_status_;
}

bool AnonymousAggregator::Count(const AuditEntry& entry, absl::Duration now) {
  if (!IsNobodys(entry)) return false;
  std::string key = KeyOf(entry);
  if (kinds_.size() >= options_.kinds_max && !kinds_.contains(key)) key = kOtherKinds;
  const auto [place, is_new] = kinds_.try_emplace(key);
  Kind& kind = place->second;
  if (is_new) {
    kind.end = now + options_.window;
    next_end_ = std::min(next_end_, kind.end);
    return false;
  }
  const uint64_t repeated = kind.last.repeated + 1;
  kind.last = key == kOtherKinds ? OfOtherKinds(entry) : entry;
  kind.last.repeated = repeated;
  return true;
}

std::vector<AuditEntry> AnonymousAggregator::TakeEnded(absl::Duration now) {
  std::vector<AuditEntry> summaries;
  if (now < next_end_) return summaries;
  next_end_ = absl::InfiniteDuration();
  absl::erase_if(kinds_, [&](auto& entry) {
    Kind& kind = entry.second;
    if (kind.end > now) {
      next_end_ = std::min(next_end_, kind.end);
      return false;
    }
    if (kind.last.repeated > 0) summaries.push_back(std::move(kind.last));
    return true;
  });
  return summaries;
}

AuditLog::AuditLog(Options options, const AuditFiles::ChainEnd& end, AuditStorage& storage, const Clock& clock,
                   AuditMetrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      metrics_(metrics),
      writer_(end, storage, clock, metrics, {.sync_interval = options_.interval}),
      repeats_(options_.repeats) {}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Start(Options options, const AuditFiles::ChainEnd& end,
                                                          AuditStorage& storage, const Clock& clock,
                                                          AuditMetrics& metrics) {
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
  // The writer has been woken for what is waiting already.
  const bool is_first = !HasNews();
  // After a dropped entry all others are dropped, too, until the writer has emptied the queue: the "lost" entry takes
  // their place in the log.
  if (waiting_.dropped > 0 || waiting_bytes_ + bytes > options_.queue_bytes_max) {
    waiting_.dropped += RepresentedEntries(entry);
    if (is_first) changed_.NotifyAll();
    return false;
  }
  // Under the lock, so that the queue has the order of its times.
  entry.time = clock_.Now();
  waiting_bytes_ += bytes;
  waiting_.entries.push_back(std::move(entry));
  if (is_first) changed_.NotifyAll();
  return true;
}

void AuditLog::Stop() {
  {
    absl::MutexLock lock(&mu_);
    waiting_.is_last = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Duration AuditLog::Timeout() const {
  // A pending "lost" entry or sync is retried once an interval.
  const absl::Duration interval = writer_.has_unfinished() ? options_.interval : absl::InfiniteDuration();
  return std::min(interval, repeats_.next_end() - clock_.Steady());
}

AuditLog::Batch AuditLog::Take() {
  absl::MutexLock lock(&mu_);
  changed_.AwaitFor(mu_, absl::Condition(this, &AuditLog::HasNews), Timeout());
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
  // Also writes the "lost" entry, if there were losses.
  if (status.ok()) status = writer_.Write(std::move(after));
  SIDEBAND_RETURN_IF_ERROR(status);
  return batch.is_last ? writer_.Sync() : writer_.SyncIfDue();
}

void AuditLog::Report(const absl::Status& status) {
  // Repeated failures with the same message are reported once.
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
    if (!is_last) SteadySleep(kBatchPause);
  }
}

}  // namespace sideband::daemon
